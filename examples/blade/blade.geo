// Rotor blade: span 7.2 m, chord 533 mm, six-sided profile 40 mm thick in the middle and 24 mm at its edges, three
// pieces along the span: blade, joint (0.72 m in the middle), blade. Built by extruding the profile along X.
size = 0.13;
half = 0.2665;
middle = 0.020;
edge = 0.012;
joint = 0.36;
Point(1) = {-3.6, -half, -edge, size};
Point(2) = {-3.6, 0, -middle, size};
Point(3) = {-3.6, half, -edge, size};
Point(4) = {-3.6, half, edge, size};
Point(5) = {-3.6, 0, middle, size};
Point(6) = {-3.6, -half, edge, size};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 6};
Line(6) = {6, 1};
Curve Loop(1) = {1, 2, 3, 4, 5, 6};
Plane Surface(1) = {1};
a[] = Extrude {3.6 - joint, 0, 0} { Surface{1}; };
b[] = Extrude {2 * joint, 0, 0} { Surface{a[0]}; };
c[] = Extrude {3.6 - joint, 0, 0} { Surface{b[0]}; };
Physical Volume("blade") = {a[1], c[1]};
Physical Volume("joint") = {b[1]};
