// A plate 0.5 m wide and 2 m high with a crack of 0.1 m from its left edge.
If (!Exists(tip)) tip = 0.002; EndIf
If (!Exists(far)) far = 0.05; EndIf
Point(1) = {0, -1, 0, far};   Point(2) = {0.5, -1, 0, far}; Point(3) = {0.5, 0, 0, far}; Point(4) = {0.5, 1, 0, far};
Point(5) = {0, 1, 0, far};    Point(6) = {0.1, 0, 0, tip};  // the tip
Point(7) = {0, 0, 0, 0.02};   Point(8) = {0, 0, 0, 0.02};   // the mouth, below and above
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5};
Line(5) = {5, 8}; Line(6) = {8, 6}; Line(7) = {6, 7}; Line(8) = {7, 1}; Line(9) = {6, 3};
Curve Loop(1) = {1, 2, -9, 7, 8}; Plane Surface(1) = {1};
Curve Loop(2) = {3, 4, 5, 6, 9}; Plane Surface(2) = {2};
Physical Surface("plate") = {1, 2};
Physical Curve("bottom") = {1};
Physical Curve("top") = {4};
