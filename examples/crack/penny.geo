// A quarter of the upper half of a cylinder, 0.5 m in radius and height; half of a penny-shaped crack of radius 0.1 m is in its bottom.
If (!Exists(tip)) tip = 0.008; EndIf
Point(1) = {0, 0, 0}; Point(2) = {0.1, 0, 0}; Point(3) = {0, 0.1, 0}; Point(4) = {0.5, 0, 0}; Point(5) = {0, 0.5, 0};
Circle(1) = {2, 1, 3};  // the front
Circle(2) = {4, 1, 5};
Line(3) = {1, 2}; Line(4) = {3, 1}; Line(5) = {2, 4}; Line(6) = {5, 3};
Curve Loop(1) = {3, 1, 4}; Plane Surface(1) = {1};
Curve Loop(2) = {5, 2, 6, -1}; Plane Surface(2) = {2};
Extrude {0, 0, 0.5} { Surface{1, 2}; }
Field[1] = MathEval;  // grows with the distance from the front
Field[1].F = Sprintf("%g + 0.35 * Sqrt((Sqrt(x^2 + y^2) - 0.1)^2 + z^2)", tip);
Background Field = 1;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Physical Volume("body") = {1, 2};
Physical Curve("front") = {1};
