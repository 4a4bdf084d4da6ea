SetFactory("OpenCASCADE");
Rectangle(1) = {-0.15, -0.15, 0, 0.3, 0.3};
Physical Surface("cloth") = {1};
