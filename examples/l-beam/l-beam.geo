// L-shaped beam: arms of 3 m and 2 m along x and y, square section of 0.5 m, finer towards both free ends. Each box is
// cut into six: 624 ten-node tetrahedra. Grading by a fixed ratio keeps neighbours' steps apart (see README).
side = 0.5;
across = 2;
Point(1) = {0, 0, 0};
Point(2) = {side, 0, 0};
Point(3) = {side, side, 0};
Point(4) = {0, side, 0};
Point(5) = {3, 0, 0};
Point(6) = {3, side, 0};
Point(7) = {0, 2, 0};
Point(8) = {side, 2, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {4, 3};
Line(4) = {1, 4};
Line(5) = {2, 5};
Line(6) = {5, 6};
Line(7) = {3, 6};
Line(8) = {4, 7};
Line(9) = {7, 8};
Line(10) = {3, 8};
Transfinite Curve {1, 2, 3, 4, 6, 9} = across + 1;
Transfinite Curve {5, 7} = 15 Using Progression 1 / 1.29;
Transfinite Curve {8, 10} = 11 Using Progression 1 / 1.33;
Curve Loop(1) = {1, 2, -3, -4};
Curve Loop(2) = {5, 6, -7, -2};
Curve Loop(3) = {3, 10, -9, -8};
Plane Surface(1) = {1};
Plane Surface(2) = {2};
Plane Surface(3) = {3};
Transfinite Surface {1, 2, 3};
Extrude {0, 0, side} { Surface{1, 2, 3}; Layers{across}; }
Physical Volume("beam") = {1, 2, 3};
