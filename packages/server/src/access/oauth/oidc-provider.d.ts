/** The part of the library that the authorization server uses. The package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export type Payload = Record<string, unknown>;
  export interface Model {
    readonly jti: string;
    save(ttl?: number): Promise<string>;
  }
  export interface InteractionModel extends Model {
    readonly exp: number;
    readonly uid: string;
    readonly returnTo: string;
    readonly params: Record<string, string | undefined>;
    result?: object;
  }
  export interface Client {
    readonly clientId: string;
    readonly redirectUris: readonly string[];
    grantTypeAllowed(type: string): boolean;
    metadata(): Payload;
  }
  interface ModelClass<M> {
    prototype: { generateTokenId(this: unknown): string };
    find(id: string): Promise<M | undefined>;
  }
  export interface Context {
    body: unknown;
    type: string;
    readonly oidc: {
      readonly provider: Provider;
      readonly client?: Client;
      readonly params: Record<string, string | undefined>;
      readonly result?: { readonly consent?: { readonly grantId?: string } };
      readonly entities: Record<string, { readonly resource?: string; readonly scopes: ReadonlySet<string> }>;
    };
  }
  export class Provider {
    constructor(issuer: string, configuration: object);
    readonly issuer: string;
    proxy: boolean;
    readonly AccessToken: ModelClass<Model>;
    readonly RefreshToken: ModelClass<Model>;
    readonly AuthorizationCode: ModelClass<Model>;
    readonly Grant: ModelClass<Model>;
    readonly Interaction: ModelClass<InteractionModel>;
    readonly Client: ModelClass<Client>;
    on(event: string, listener: (...args: never[]) => void): this;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }
  type ErrorClass = new (...details: Array<string | undefined>) => Error;
  export const errors: Record<
    'InvalidGrant' | 'InvalidTarget' | 'InvalidClient' | 'InvalidClientMetadata' | 'InvalidRedirectUri',
    ErrorClass
  >;
  export const interactionPolicy: {
    Check: new (reason: string, description: string, check: (context: Context) => boolean) => object;
    Prompt: new (options: { name: string; requestable: boolean }, ...checks: object[]) => object;
    base(): Array<object> & { clear(): void; add(prompt: object): void };
  };
}
