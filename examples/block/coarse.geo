// The block with 8 columns and 4 rows: 64 triangles, for quick runs over many periods.
columns = 8;
rows = 4;
growth = 1.5;
Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0};
Point(3) = {1, 1, 0};
Point(4) = {0, 1, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {4, 3};
Line(4) = {1, 4};
Transfinite Curve {1, 3} = columns + 1 Using Progression 1 / growth;
Transfinite Curve {2, 4} = rows + 1;
Curve Loop(1) = {1, 2, -3, -4};
Plane Surface(1) = {1};
Transfinite Surface {1} AlternateLeft;
Physical Curve("left") = {4};
Physical Surface("body") = {1};
