// Rotor of two blades: 7.2 m from hub to tip each, chord 533 mm, six-sided profile 40 mm thick in the middle and 24 mm at its edges, three
// pieces along the span: blade, joint (0.72 m in the middle), blade. Built by extruding the profile along X.
size = 0.18;
half = 0.2665;
middle = 0.020;
edge = 0.012;
joint = 0.36;
Point(1) = {-7.2, -half, -edge, size};
Point(2) = {-7.2, 0, -middle, size};
Point(3) = {-7.2, half, -edge, size};
Point(4) = {-7.2, half, edge, size};
Point(5) = {-7.2, 0, middle, size};
Point(6) = {-7.2, -half, edge, size};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 6};
Line(6) = {6, 1};
Curve Loop(1) = {1, 2, 3, 4, 5, 6};
Plane Surface(1) = {1};
a[] = Extrude {7.2 - joint, 0, 0} { Surface{1}; };
b[] = Extrude {2 * joint, 0, 0} { Surface{a[0]}; };
c[] = Extrude {7.2 - joint, 0, 0} { Surface{b[0]}; };
Physical Volume("blade") = {a[1], c[1]};
Physical Volume("joint") = {b[1]};
