// Sheets of cloth, one above the other, in a sphere. n: cells along a side of 10 cm.
SetFactory("OpenCASCADE");
sheets = 24;
n = 40;
For k In {1:sheets}
  Rectangle(k) = {-0.05, -0.05, 0.072 / n * (k - 0.5 * (sheets + 1)), 0.1, 0.1};
EndFor
Sphere(100) = {0, 0, 0, 0.08};
Delete { Volume{:}; }
Transfinite Curve {1:4*sheets} = n + 1;
Transfinite Surface {1:sheets} Alternated;
Mesh.MeshSizeMax = 0.012;
Physical Surface("cloth") = {1:sheets};
Physical Surface("sphere") = {sheets + 1};
