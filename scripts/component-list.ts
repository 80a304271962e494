// Prints the packages that production needs as a CycloneDX document, from the lockfiles of the service and of the console,
// whose libraries are in its built files: `npm run script -- component-list > sbom.json`. `npm sbom` leaves out packages that development tools
// need as well.
import { readFileSync } from 'node:fs';
import { describeComponents, listComponents } from './packages/components.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const components = [...listComponents('.'), ...listComponents('.', 'packages/console')];
console.log(JSON.stringify(describeComponents(version, components), null, 2));
