// A plate 1 m wide and 2 m high with a crack of 2 half in its middle, turned by angle. Its two faces are lines of their own between the same two tips.
If (!Exists(tip)) tip = 0.002; EndIf
If (!Exists(far)) far = 0.04; EndIf
If (!Exists(half)) half = 0.1; EndIf
If (!Exists(angle)) angle = 0; EndIf
Point(1) = {-0.5, -1, 0, far}; Point(2) = {0, -1, 0, far}; Point(3) = {0.5, -1, 0, far};
Point(4) = {0.5, 0, 0, far};   Point(5) = {0.5, 1, 0, far}; Point(6) = {0, 1, 0, far};
Point(7) = {-0.5, 1, 0, far};  Point(8) = {-0.5, 0, 0, far};
Point(9) = {-half * Cos(angle), -half * Sin(angle), 0, tip};
Point(10) = {half * Cos(angle), half * Sin(angle), 0, tip};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5}; Line(5) = {5, 6};
Line(6) = {6, 7}; Line(7) = {7, 8}; Line(8) = {8, 1};
Line(9) = {8, 9}; Line(10) = {10, 4};  // what holds
Line(11) = {9, 10}; Line(12) = {9, 10};  // the faces below and above
Curve Loop(1) = {1, 2, 3, -10, -11, -9, 8}; Plane Surface(1) = {1};
Curve Loop(2) = {4, 5, 6, 7, 9, 12, 10}; Plane Surface(2) = {2};
Physical Surface("plate") = {1, 2};
Physical Curve("bottom") = {1, 2};
Physical Curve("top") = {5, 6};
Physical Curve("crack") = {11, 12};
