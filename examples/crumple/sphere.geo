// A square cloth in a sphere. n: cells along a side of the cloth.
SetFactory("OpenCASCADE");
n = 160;
Rectangle(1) = {-0.115, -0.115, 0, 0.23, 0.23};
Sphere(2) = {0, 0, 0, 0.17};
Delete { Volume{:}; }
Transfinite Curve {1:4} = n + 1;
Transfinite Surface {1} Alternated;
Mesh.MeshSizeMax = 0.012;
Physical Surface("cloth") = {1};
Physical Surface("sphere") = {2};
