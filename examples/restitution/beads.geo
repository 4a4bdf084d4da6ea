// Beads of 9.52 mm in a row along z, 0.52 um apart, fine where they meet.
SetFactory("OpenCASCADE");
DefineConstant[ count = 2, fine = 2e-4 ];
D = 9.52e-3;
gap = 5.2e-7;
fields = {};
For k In {1:count}
  Sphere(k) = {0, 0, (k - 1) * (D + gap), D / 2};
  Physical Volume(Sprintf("bead%g", k)) = {k};
  Field[k] = Ball;
  Field[k].ZCenter = (k - 0.5) * (D + gap);
  Field[k].Radius = 1.8e-4;
  Field[k].Thickness = 2e-3;
  Field[k].VIn = k < count ? fine : 1e-3;
  Field[k].VOut = 1e-3;
  fields[] += k;
EndFor
Field[count + 1] = Min;
Field[count + 1].FieldsList = {fields[]};
Background Field = count + 1;
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeFromCurvature = 0;
