// Cubes of 0.1 m, one on the other, a millimetre apart, each turned by 10 degrees more.
SetFactory("OpenCASCADE");
a = 0.1;
gap = 1e-3;
For i In {1:4}
  Box(i) = {-a / 2, -a / 2, gap + (i - 1) * (a + gap), a, a, a};
  Rotate {{0, 0, 1}, {0, 0, 0}, (i - 1) * Pi / 18} { Volume{i}; }
  Physical Volume(Sprintf("cube %g", i)) = {i};
EndFor
