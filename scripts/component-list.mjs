// Prints the packages that production needs as a CycloneDX document: `npm run sbom > sbom.json`. It reads the lockfiles
// of the service and of the console, whose libraries are in its built files. `npm sbom` omits packages that development
// tools need as well.
import { readFileSync } from 'node:fs';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const { version, packages } = read('package-lock.json');
const ofConsole = Object.entries(read('packages/console/package-lock.json').packages);
const folder = 'node_modules/';
const components = [
  ...Object.entries(packages),
  ...ofConsole.map(([path, entry]) => [`packages/console/${path}`, entry]),
]
  .filter(([path, { dev, link }]) => path.includes(folder) && dev !== true && link !== true)
  .map(([path, entry]) => {
    const name = entry.name ?? path.slice(path.lastIndexOf(folder) + folder.length);
    const purl = `pkg:npm/${name.replace('@', '%40')}@${entry.version}`;
    const [algorithm, digest] = entry.integrity.split('-', 2);
    return {
      type: 'library',
      'bom-ref': `${path}@${entry.version}`,
      name,
      version: entry.version,
      purl,
      scope: entry.optional === true || entry.devOptional === true ? 'optional' : 'required',
      hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }],
      licenses: entry.license === undefined ? [] : [{ expression: entry.license }],
    };
  });
const component = { type: 'application', name: 'quartermaster', version };
const list = { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { component }, components };
console.log(JSON.stringify(list, null, 2));
