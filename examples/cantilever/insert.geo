SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 0.1, 0.1, 0.024};
Box(2) = {0.02, 0.02, 0.011, 0.06, 0.06, 0.002};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }
v() = Volume In BoundingBox {0.019, 0.019, 0.0105, 0.081, 0.081, 0.0135};
Physical Volume("metal") = {v()};
w() = Volume{:};
w() -= v();
Physical Volume("rubber") = {w()};
