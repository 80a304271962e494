import { temporaryDatabases } from '../../database/testing/temporary-databases.ts';
import { testCollections } from './testing/collections.suite.ts';

testCollections('PostgreSQL', temporaryDatabases.PostgreSQL);
