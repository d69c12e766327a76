"""Questions of our own over real data packages, in schemas such as companies have: see `README.md`."""
