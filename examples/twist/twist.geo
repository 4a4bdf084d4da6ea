SetFactory("OpenCASCADE");
Rectangle(1) = {-0.2, -0.06, 0, 0.4, 0.12};
Physical Surface("cloth") = {1};
