import { testMcpLibraries } from '../acceptance/mcp-libraries.suite.ts';
import { otherClients } from './other-clients.ts';

testMcpLibraries(otherClients);
