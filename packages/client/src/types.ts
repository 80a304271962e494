/** Every named schema of the two OpenAPI documents. */
export type { ErrorCode } from './generated/error-codes.ts';
export type * from './generated/files-api.ts';
export type {
  Artifact,
  Bundle,
  CredentialProfile,
  CredentialProfileCreate,
  CredentialProfileList,
  CredentialProfileUpdate,
  DefinitionLoss,
  ErrorDetail,
  ExecuteRequest,
  ExecuteResult,
  FlatPlugin,
  OptionsRequest,
  OutputArtifact,
  Plugin,
  PluginDefinition,
  PluginsApi,
  PropertyOptions,
  Run,
  RunCall,
  RunError,
  RunItem,
  RunPhases,
  RunProgress,
  VerifyCredentialsRequest,
} from './generated/plugins-api.ts';
