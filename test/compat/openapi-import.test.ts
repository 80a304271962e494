import { join } from 'node:path';
import { testImport } from './openapi-import.suite.ts';

testImport({ file: join(import.meta.dirname, '../bundles/every-style.openapi.yaml'), calls: 5, leastImported: 0.7 });
testImport({ file: join(import.meta.dirname, 'library.swagger.yaml'), calls: 5, leastImported: 1 });
