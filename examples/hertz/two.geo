// Two balls that will touch at the origin, fine there.
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0.0501, 0.05};
Sphere(2) = {0, 0, -0.0501, 0.05};
Physical Volume("upper") = {1};
Physical Volume("lower") = {2};
DefineConstant[ fine = 2e-3 ];
Field[1] = Ball;
Field[1].Radius = 0.011;
Field[1].Thickness = 0.03;
Field[1].ZCenter = 0.0;
Field[1].VIn = fine;
Field[1].VOut = 0.012;
Background Field = 1;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
