import { mcpClients } from '../support/mcp-clients.ts';
import { testMcpLibraries } from './mcp-libraries.suite.ts';

testMcpLibraries(mcpClients);
