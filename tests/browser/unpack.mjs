// Unpacks what @sparticuz/chromium packs for AWS Lambda: the browser, its libraries and a font, into chromium/ beside this file.
// Without a font that fontconfig finds the browser ends at the first letter: it gets those that come along, and no others.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";

const from = "node_modules/@sparticuz/chromium/bin/";
mkdirSync("chromium", { recursive: true });
writeFileSync("chromium/chromium", brotliDecompressSync(readFileSync(`${from}chromium.br`)), { mode: 0o755 });
for (const name of ["al2023", "fonts", "swiftshader"]) {
  const archive = `chromium/${name}.tar`;
  writeFileSync(archive, brotliDecompressSync(readFileSync(`${from}${name}.tar.br`)));
  execFileSync("tar", ["-xf", archive, "-C", "chromium"]);
  rmSync(archive);
}
writeFileSync("chromium/fonts.conf", `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${process.cwd()}/chromium/fonts</dir>
  <dir>${process.cwd()}/node_modules/dejavu-fonts-ttf/ttf</dir>
  <cachedir>${process.cwd()}/chromium/fontcache</cachedir>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
`);
