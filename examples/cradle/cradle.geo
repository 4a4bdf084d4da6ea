// Five balls in a row, 2 mm apart, fine where they will touch.
SetFactory("OpenCASCADE");
DefineConstant[ fine = 2.5e-3 ];
R = 0.025;
gap = 2e-3;
For i In {1:5}
  Sphere(i) = {(i - 1) * (2 * R + gap), 0, 0, R, -Pi/2, Pi/2, 2 * Pi};
  Physical Volume(Sprintf("ball %g", i)) = {i};
EndFor
near() = {};
For i In {1:4}
  Field[i] = Ball;
  Field[i].Radius = 0.005;
  Field[i].Thickness = 0.012;
  Field[i].XCenter = (i - 0.5) * (2 * R + gap) - gap / 2;
  Field[i].VIn = fine;
  Field[i].VOut = 0.008;
  near() += {i};
EndFor
Field[5] = Min;
Field[5].FieldsList = {near()};
Background Field = 5;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
