// A slice of the plate, 0.05 m thick, of tetrahedra, with straight fronts. The faces of the crack stand 1 mm apart in the middle:
// lines that coincide would become one when they are extruded.
If (!Exists(tip)) tip = 0.005; EndIf
If (!Exists(far)) far = 0.1; EndIf
Point(1) = {-0.5, -1, 0, far}; Point(2) = {0, -1, 0, far}; Point(3) = {0.5, -1, 0, far};
Point(4) = {0.5, 0, 0, far};   Point(5) = {0.5, 1, 0, far}; Point(6) = {0, 1, 0, far};
Point(7) = {-0.5, 1, 0, far};  Point(8) = {-0.5, 0, 0, far};
Point(9) = {-0.1, 0, 0, tip};  Point(10) = {0.1, 0, 0, tip};
Point(11) = {0, -5e-4, 0, far}; Point(12) = {0, 5e-4, 0, far};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5}; Line(5) = {5, 6};
Line(6) = {6, 7}; Line(7) = {7, 8}; Line(8) = {8, 1};
Line(9) = {8, 9}; Line(10) = {10, 4};  // what holds
Line(11) = {9, 11}; Line(12) = {11, 10}; Line(13) = {9, 12}; Line(14) = {12, 10};  // the faces below and above
Curve Loop(1) = {1, 2, 3, -10, -12, -11, -9, 8}; Plane Surface(1) = {1};
Curve Loop(2) = {4, 5, 6, 7, 9, 13, 14, 10}; Plane Surface(2) = {2};
Extrude {0, 0, 0.05} { Surface{1, 2}; }
Physical Volume("plate") = {1, 2};
