/** What the process of a piece is asked to do: the input of its handler. */
export type PieceTask = { readonly file: string } & (
  | { readonly mode: 'describe' }
  | ({ readonly mode: 'run' } & ActionCall)
  /** Asks for the choices of a property, or for the properties that one consists of. */
  | ({ readonly mode: 'choices'; readonly property: string; readonly search?: string } & ActionCall)
);

export interface ActionCall {
  readonly action: string;
  readonly props: Readonly<Record<string, unknown>>;
  /** null when the action needs no credentials, or there are none. */
  readonly auth: PieceAuthValue | null;
}

export const authKinds = ['SECRET_TEXT', 'BASIC_AUTH', 'CUSTOM_AUTH', 'OAUTH2'] as const;
export type AuthKind = (typeof authKinds)[number];

/** The credentials of a run. Secrets are placeholders. */
export interface PieceAuthValue {
  readonly kind: AuthKind;
  /** `token`; `username` and `password`; the fields of the piece; or `access_token` and the fields of the piece. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** In each error of an action that computes with its secret. */
export const computingText = 'computes with its secret';

/** The answer to `choices`. */
export type PieceChoices =
  | {
      readonly options: ReadonlyArray<{ readonly label: string; readonly value: unknown }>;
      readonly placeholder: string;
    }
  | { readonly properties: readonly PieceProperty[] };

/** A piece as its process describes it. Bounded and checked by the service. */
export interface PieceDescription {
  readonly displayName: string;
  readonly description: string;
  readonly logoUrl: string;
  readonly categories: readonly string[];
  /** Alternatives. Empty when the piece needs no credentials. */
  readonly auth: readonly PieceAuth[];
  readonly actions: readonly PieceAction[];
}

export interface PieceAuth {
  readonly kind: AuthKind;
  readonly displayName: string;
  readonly description: string;
  /** The members of the credentials that the piece names: fields of `CUSTOM_AUTH` and `OAUTH2`, and the texts of `BASIC_AUTH`. */
  readonly props: readonly PieceProperty[];
  /** Of `OAUTH2`; empty for the other kinds. */
  readonly authUrl: string;
  readonly tokenUrl: string;
  readonly scope: readonly string[];
  /** Of `OAUTH2`. */
  readonly pkce: boolean;
  /** Empty for the default, `consent`. */
  readonly prompt: string;
  /** `HEADER` or, by default, `BODY`: how the client proves itself. */
  readonly authorizationMethod: string;
}

export interface PieceAction {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly requireAuth: boolean;
  /** READ, SEARCH, WRITE or DESTRUCTIVE; empty when the piece does not tell. */
  readonly classification: string;
  readonly idempotent: boolean;
  readonly props: readonly PieceProperty[];
  readonly output: readonly OutputField[];
}

export interface PieceProperty {
  readonly name: string;
  readonly type: string;
  readonly displayName: string;
  readonly description: string;
  readonly required: boolean;
  readonly defaultValue?: unknown;
  readonly options?: ReadonlyArray<{ readonly label: string; readonly value: unknown }>;
  /** The properties that the choices depend on. */
  readonly refreshers?: readonly string[];
  /** Of the items of an `ARRAY`. */
  readonly properties?: readonly PieceProperty[];
}

export interface OutputField {
  readonly key: string;
  readonly description: string;
  readonly format: string;
  readonly isMap: boolean;
  readonly children: readonly OutputField[];
  readonly items: readonly OutputField[] | null;
}
