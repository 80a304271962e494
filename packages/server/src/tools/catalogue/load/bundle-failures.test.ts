import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Catalogue } from '../catalogue.ts';
import {
  bundleYaml,
  createFolder,
  type Files,
  goodFiles,
  handlerYaml,
  load,
  pluginYaml,
} from './testing/bundle-folder.suite.ts';

const bundle = 'weather/bundle.yaml';
const plugin = 'weather/get_weather.yaml';
const injection = '{in: query, name: appid, credential: WEATHER_KEY}';
const lat = 'lat: {type: number, minimum: -90, maximum: 90, description: Latitude.}';

/**
 * Errors in files of bundles, each as `file: text → its replacement ⇒ message ⇒ …`. Without a text, the replacement is
 * the whole file. A message is `file:line field: message`.
 */
const invalidFiles = {
  'broken YAML': `${plugin}: effects: read → effects: [read ⇒ ${plugin}:5 (file): Flow sequence in block collection must be sufficiently indented and end with a ]`,
  'a name that comes twice': `${plugin}: effects: read → effects: read\neffects: write ⇒ ${plugin}:5 (file): Map keys must be unique`,
  'a YAML tag': `${plugin}: effects: read → effects: !!set {read} ⇒ ${plugin}:4 (file): Tags are not allowed; received tag:yaml.org,2002:set.`,
  'a tag of a programming language': `${plugin}: effects: read → effects: !js/function read ⇒ ${plugin}:4 (file): Tags are not allowed; received !js/function.`,
  'two documents in a file': `${plugin}: output: '{temperature: body.main.temp}'\n → output: '{temperature: body.main.temp}'\n\n---\nid: other\n ⇒ ${plugin}:25 (file): Source contains multiple documents; please use YAML.parseAllDocuments()`,
  'an alias of itself': `${plugin}: query: {lat: '{lat}', lon: '{lon}', units: '{units}'} → query: &q {lat: *q} ⇒ ${plugin}:21 request.query.lat: Must be nested at most 64 levels deep; received deeper nesting.`,
  'a thousand aliases': `${plugin}: query: {lat: '{lat}', lon: '{lon}', units: '{units}'} → query: {a: &a [x, x], b: &b [${'*a,'.repeat(30)}], c: [${'*b,'.repeat(30)}]} ⇒ ${plugin}:- (file): Excessive alias count indicates a resource exhaustion attack`,
  'a number that JSON has not': `${plugin}: minimum: -90 → minimum: -.inf ⇒ ${plugin}:11 input_schema.properties.lat.minimum: Must be a JSON value; received a value of type number.`,
  'the name __proto__': `${plugin}: properties:\n    lat → properties:\n    __proto__: {type: string, description: Evil.}\n    lat ⇒ ${plugin}:11 input_schema.properties.__proto__: Must be named differently; received a reserved name.`,
  'a file that is too large': `${plugin}:  → # ${'x'.repeat(256 * 1024)} ⇒ ${plugin}:- (file): get_weather.yaml is larger than 256 KiB.`,
  'a file that is not text': `${plugin}:  → id:\xff\xfe ⇒ ${plugin}:- (file): get_weather.yaml is not UTF-8 text.`,
  'a file that is not an object': `${plugin}:  → - one\n- two\n ⇒ ${plugin}:1 (file): Must be an object; received an array of 2 items.`,
  'a member that is missing': `${plugin}: effects: read\n →  ⇒ ${plugin}:1 effects: Is required.`,
  'a member that is not known': `${plugin}: idempotent: true → idempotent: true\nidempotant: true ⇒ ${plugin}:6 idempotant: Unknown member "idempotant". Did you mean "idempotent"? Allowed: id, name, description, api, input_schema, output_schema, effects, idempotent, credentials, request, response, handler, piece, mcp, examples.`,
  'a member of the wrong type': `${plugin}: idempotent: true → idempotent: "yes" ⇒ ${plugin}:5 idempotent: Must be a boolean; received a string ("yes").`,
  'a value that is not listed': `${plugin}: effects: read → effects: reads ⇒ ${plugin}:4 effects: Must be one of "read", "write", "destructive"; received "reads".`,
  'texts without English': `${plugin}: name: {en: Get weather, zh: 查天气} → name: {zh: 查天气} ⇒ ${plugin}:2 name.en: Is required.`,
  'a text that is a number': `${plugin}: name: {en: Get weather, zh: 查天气} → name: 5 ⇒ ${plugin}:2 name: Must be a string or an object; received a number (5).`,
  'a language that is none': `${plugin}: zh: 查天气 → chinese: 查天气 ⇒ ${plugin}:2 name.chinese: Must be a language tag such as en, zh or pt-BR.`,
  'a plugin id that is not the name of its file': `${plugin}: id: get_weather → id: got_weather ⇒ ${plugin}:1 id: Must be "get_weather", the name of the file; received "got_weather".`,
  'a plugin that does nothing': `sums/add.yaml: handler: add.ts\n →  ⇒ sums/add.yaml:1 (file): One of "request" (no code), "handler" (a file with code) or "mcp" (a remote tool) is required.`,
  'a plugin with code and a request': `sums/add.yaml: handler: add.ts → request: {url: "https://api.example.com/"}\nhandler: add.ts ⇒ sums/add.yaml:17 handler: Must not be set beside "request"; a plugin has one of the two. ⇒ sums/add.yaml:16 request.url: The host api.example.com is not one of the bundle's "hosts" (none).`,
  'a response without a request': `sums/add.yaml: handler: add.ts → handler: add.ts\nresponse: {output: body} ⇒ sums/add.yaml:17 response: Must not be set beside "handler", which returns the output itself.`,
  'a handler that is not there': `sums/add.yaml: handler: add.ts → handler: sum.ts ⇒ sums/add.yaml:16 handler: The file sum.ts does not exist in the folder.`,
  'a handler outside of the folder': `sums/add.yaml: handler: add.ts → handler: ../weather/add.ts ⇒ sums/add.yaml:16 handler: Must be a string that matches ^([a-z0-9-]+\\.(ts|mjs|js)|piece\\.cjs)$; received "../weather/add.ts".`,
  'a host that is not declared': `${plugin}: url: https://api.example.com/ → url: https://api.example.org/ ⇒ ${plugin}:20 request.url: The host api.example.org is not one of the bundle's "hosts" (api.example.com).`,
  'a port that is not declared': `${plugin}: url: https://api.example.com/ → url: https://api.example.com:8443/ ⇒ ${plugin}:20 request.url: The host api.example.com:8443 is not one of the bundle's "hosts" (api.example.com).`,
  'a placeholder in the host': `${plugin}: url: https://api.example.com/ → url: https://{lat}.example.com/ ⇒ ${plugin}:20 request.url: Placeholders are allowed only in the path. Put query parameters into "query".`,
  'a user name in the URL': `${plugin}: url: https://api.example.com/ → url: https://api.example.com@evil.example/ ⇒ ${plugin}:20 request.url: Must not contain a user name or a password. Use "inject" for credentials.`,
  'another scheme': `${plugin}: url: https://api.example.com/ → url: file:///etc/ ⇒ ${plugin}:20 request.url: Must be a string that matches ^https?://; received "file:///etc/v1/{credential:ACCOUNT}/weather".`,
  'a placeholder of no parameter': `${plugin}: lon: '{lon}' → lon: '{long}' ⇒ ${plugin}:21 request.query.lon: {long} is not a property of input_schema.`,
  'a brace that is not a placeholder': `${plugin}: lon: '{lon}' → lon: '{ lon }' ⇒ ${plugin}:21 request.query.lon: "{ lon }" is not a placeholder; write "{{" for a brace.`,
  'a credential that is not declared': `${plugin}: {credential:ACCOUNT} → {credential:ACCOUNTS} ⇒ ${plugin}:20 request.url: {credential:ACCOUNTS} is not in credentials_schema.`,
  'a credential that is not injected into the path': `${plugin}: {credential:ACCOUNT} → {credential:WEATHER_KEY} ⇒ ${plugin}:20 request.url: {credential:WEATHER_KEY} needs {in: path, credential: WEATHER_KEY} in "inject" of the bundle.`,
  'a credential in a parameter': `${plugin}: lon: '{lon}' → lon: '{credential:ACCOUNT}' ⇒ ${plugin}:21 request.query.lon: {credential:ACCOUNT} stands in the path of the URL only; elsewhere "inject" places it.`,
  'a body in a GET request': `${plugin}: response: →   body: {a: 1}\nresponse: ⇒ ${plugin}:22 request.body: A GET request must not have a body.`,
  'credentials without encryption': `${plugin}: url: https:// → url: http:// ⇒ ${plugin}:20 request.url: Must be an https:// URL, because the bundle sends credentials.`,
  'a form that is not an object': `${plugin}: response: →   method: POST\n  body: [1]\n  body_type: form\nresponse: ⇒ ${plugin}:23 request.body: Must be an object, because a form consists of names and values.`,
  'an expression that does not compile': `${plugin}: '{temperature: body.main.temp}' → '{temperature: body.main.}' ⇒ ${plugin}:23 response.output: It is not a JMESPath expression: Syntax error, unexpected token: }(Rbrace)`,
  'an expression with an unknown function': `${plugin}: '{temperature: body.main.temp}' → '{temperature: round(body.main.temp)}' ⇒ ${plugin}:23 response.output: JMESPath has no function round().`,
  'a place of an error that does not compile': `${plugin}: response: → response:\n  errors: {message: body.error.} ⇒ ${plugin}:23 response.errors.message: It is not a JMESPath expression: Syntax error, unexpected token: (EOF)`,
  'a place of an error with an unknown function': `${bundle}: hosts: → errors: {code: first(body)}\nhosts: ⇒ ${bundle}:8 errors.code: JMESPath has no function first().`,
  'a message for a status that is no error': `${bundle}: hosts: → errors: {statuses: {200: Fine.}}\nhosts: ⇒ ${bundle}:8 errors.statuses[200]: Must be a status from 400 to 599.`,
  'a schema of an unknown type': `${plugin}: ${lat} → lat: {type: float, description: Latitude.} ⇒ ${plugin}:11 input_schema.properties.lat.type: Must be one of "array", "boolean", "integer", "null", "number", "object", "string"; received "float".`,
  'a schema whose root is not an object': `${plugin}: input_schema:\n  type: object → input_schema:\n  type: array ⇒ ${plugin}:7 input_schema.type: Must be "object"; received "array".`,
  'a property without a description': `${plugin}: , description: Latitude. →  ⇒ ${plugin}:11 input_schema.properties.lat: Must have a description. Models read it to fill in or to understand the property.`,
  'an inner property without a description': `${plugin}: temperature: {type: number, description: Degrees.} → temperature: {type: object, description: All., properties: {day: {type: number}}} ⇒ ${plugin}:18 output_schema.properties.temperature.properties.day: Must have a description. Models read it to fill in or to understand the property.`,
  'a property name that no model may use': `${plugin}: ${lat} → ${lat}\n    "place name": {type: string, description: Name.} ⇒ ${plugin}:12 input_schema.properties["place name"]: The name of a property must be 1 to 64 characters from a-z, A-Z, 0-9, "_", "." and "-".`,
  'an array of anything': `${plugin}: ${lat} → lat: {type: array, description: Latitudes.} ⇒ ${plugin}:11 input_schema.properties.lat: Must have "items", which describes the elements of the array.`,
  'a required name that is not a property': `${plugin}: required: [lat, lon] → required: [lat, long] ⇒ ${plugin}:8 input_schema.required[1]: "long" is not listed in "properties".`,
  'a remote reference': `${plugin}: ${lat} → lat: {$ref: "https://example.com/lat.json", description: Latitude.} ⇒ ${plugin}:11 input_schema.properties.lat.$ref: "https://example.com/lat.json" is outside of this document; only "#/…" is allowed.`,
  'a reference to nothing': `${plugin}: ${lat} → lat: {$ref: "#/$defs/lat", description: Latitude.} ⇒ ${plugin}:11 input_schema.properties.lat.$ref: "#/$defs/lat" leads to no schema of this document.`,
  'references in a circle': `${plugin}:   additionalProperties: false →   $defs: {a: {$ref: "#/$defs/b"}, b: {$ref: "#/$defs/a"}} ⇒ ${plugin}:9 input_schema.$defs.a: Its references form a cycle that applies to the same value forever.`,
  'references that multiply': `${plugin}:   additionalProperties: false →   $defs:\n    d0: {type: string}\n${doublings(20)} ⇒ ${plugin}:21 input_schema.$defs.d11: Applies more than 5000 schemas to one value after its references are resolved.`,
  'a pattern without a linear-time meaning': `${plugin}: ${lat} → lat: {type: string, pattern: '^(?=a)b', description: Latitude.} ⇒ ${plugin}:11 input_schema.properties.lat.pattern: The pattern "^(?=a)b" cannot be used: it does not run in linear time or is not supported (invalid or unsupported Perl syntax: \`(?=\`).`,
  'a pattern with a back reference': `${plugin}: ${lat} → lat: {type: string, pattern: '(a)\\1', description: Latitude.} ⇒ ${plugin}:11 input_schema.properties.lat.pattern: The pattern "(a)\\\\1" cannot be used: back references are not supported.`,
  'a list of no values': `${plugin}: enum: [metric, imperial] → enum: [] ⇒ ${plugin}:13 input_schema.properties.units.enum: Must list at least one value.`,
  'another dialect': `${plugin}:   additionalProperties: false →   $schema: http://json-schema.org/draft-07/schema# ⇒ ${plugin}:9 input_schema.$schema: Must be https://json-schema.org/draft/2020-12/schema, the only supported dialect, or absent.`,
  'a keyword of OpenAPI': `${plugin}: ${lat} → lat: {type: number, nullable: true, description: Latitude.} ⇒ ${plugin}:11 input_schema.properties.lat.nullable: "nullable" is not JSON Schema 2020-12; write type: [string, "null"].`,
  'a schema that is too deep': `${plugin}: ${lat} → lat: {description: Latitude., ${'not: {'.repeat(33)}${'}'.repeat(33)}} ⇒ ${plugin}:6 input_schema: Subschemas are nested deeper than 32 levels.`,
  'a schema that is too large': `${plugin}: ${lat} → lat: {description: Latitude., anyOf: [${'{},'.repeat(2_000)}]} ⇒ ${plugin}:6 input_schema: Holds more than 2000 subschemas.`,
  'a bundle id that is not the name of its folder': `${bundle}: id: weather → id: clouds ⇒ ${bundle}:1 id: Must be "weather", the name of the folder; received "clouds".`,
  'a version that is none': `${bundle}: version: 1.0.0 → version: 1.0 ⇒ ${bundle}:2 version: Must be a string; received a number (1).`,
  'a file that is not a field of the body': `${plugin}: \nrequest:\n → \nrequest:\n  files: {photo: {}}\n ⇒ ${plugin}:20 request.files.photo: Must be a field of a "body" with "body_type: multipart".`,
  'a keyword of a schema that is misspelled': `${plugin}:   required: [lat, lon]\n →   requierd: [lat, lon]\n ⇒ ${plugin}:8 input_schema.requierd: Unknown keyword "requierd". Did you mean "required"?`,
  'a host with a wildcard': `${bundle}: [api.example.com] → ["*.example.com"] ⇒ ${bundle}:8 hosts[0]: Must be a string that matches ^([a-z0-9.-]|\\{[A-Za-z0-9_]{1,64}\\})+(:\\d+)?$; received "*.example.com".`,
  'places of placeholders in a bundle that injects and has requests': `${bundle}: icon: icon.svg → credential_places: {hosts: [evil.example], places: [{in: query, name: a}, {in: query, name: a}]} ⇒ ${bundle}:7 credential_places: Must not be set beside "inject"; a bundle has one of the two. ⇒ ${bundle}:7 credential_places.hosts[0]: evil.example is not one of the bundle's "hosts". ⇒ ${bundle}:7 credential_places.places[1]: Is listed twice. ⇒ ${bundle}:18 verify: Must have a "handler", because only handlers get placeholders ("credential_places"). ⇒ ${plugin}:1 (file): Must have a "handler", because only handlers get placeholders ("credential_places").`,
  'hosts with a secret, with an unknown credential and without a domain': `${bundle}: [api.example.com] → [api.example.com, "{WEATHER_KEY}.example.com", "{REGION}.com"] ⇒ ${bundle}:8 hosts[1]: A host with {credential} needs "credential_places". ⇒ ${bundle}:8 hosts[1]: {WEATHER_KEY} is a secret, and a host cannot hold one. ⇒ ${bundle}:8 hosts[2]: A host with {credential} needs "credential_places". ⇒ ${bundle}:8 hosts[2]: {REGION} is not in credentials_schema. ⇒ ${bundle}:8 hosts[2]: Must end with a fixed domain, such as {name}.example.com, or be only {name}.`,
  'a host that is listed twice': `${bundle}: [api.example.com] → [api.example.com, api.example.com] ⇒ ${bundle}:8 hosts[1]: api.example.com is listed twice.`,
  'hosts of the operator without the one that credentials go to': `${bundle}: [api.example.com] → {by: operator} ⇒ ${bundle}:8 hosts.credentials_to: Must name the credential that holds the host to which the other credentials are sent. ⇒ ${bundle}:19 verify.request.url: The operator chooses the hosts of this bundle, so only a handler can call them. ⇒ ${plugin}:20 request.url: The operator chooses the hosts of this bundle, so only a handler can call them.`,
  'hosts of the operator and credentials that go to nobody knows where': `${bundle}: [api.example.com] → {by: operator, credentials_to: API_HOST} ⇒ ${bundle}:8 hosts.credentials_to: "API_HOST" is not in credentials_schema. ⇒ ${bundle}:19 verify.request.url: The operator chooses the hosts of this bundle, so only a handler can call them. ⇒ ${plugin}:20 request.url: The operator chooses the hosts of this bundle, so only a handler can call them.`,
  'hosts of nobody': `${bundle}: [api.example.com] → {by: caller} ⇒ ${bundle}:8 hosts.by: Must be "operator"; received "caller".`,
  'an icon that is not there': `${bundle}: icon: icon.svg → icon: logo.svg ⇒ ${bundle}:7 icon: The file logo.svg does not exist in the folder.`,
  'an icon that is not a picture': `weather/icon.svg:  → <html></html> ⇒ ${bundle}:7 icon: icon.svg is not an SVG image.`,
  'an icon with a script': `weather/icon.svg:  → <svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg> ⇒ ${bundle}:7 icon: icon.svg contains <script>, which is not allowed in an icon.`,
  'an icon with a script behind another prefix': `weather/icon.svg:  → <svg xmlns:s="http://www.w3.org/2000/svg"><s:script>alert(1)</s:script></svg> ⇒ ${bundle}:7 icon: icon.svg contains <s:script>, which is not allowed in an icon.`,
  'an icon with foreign content': `weather/icon.svg:  → <svg xmlns="http://www.w3.org/2000/svg"><foreignObject/></svg> ⇒ ${bundle}:7 icon: icon.svg contains <foreignObject>, which is not allowed in an icon.`,
  'an icon with an event attribute': `weather/icon.svg:  → <svg xmlns="http://www.w3.org/2000/svg"><g\nonload = "alert(1)"/></svg> ⇒ ${bundle}:7 icon: icon.svg contains an event attribute, which is not allowed in an icon.`,
  'an icon with a link': `weather/icon.svg:  → <svg xmlns="http://www.w3.org/2000/svg"><use href="javascript:alert(1)"/></svg> ⇒ ${bundle}:7 icon: icon.svg contains a reference to another file, which is not allowed in an icon.`,
  'an icon with a document type': `weather/icon.svg:  → <!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"></svg> ⇒ ${bundle}:7 icon: icon.svg contains <!DOCTYPE>, which is not allowed in an icon.`,
  'an injection of an unknown credential': `${bundle}: credential: WEATHER_KEY → credential: WETHER_KEY ⇒ ${bundle}:16 inject[0].credential: "WETHER_KEY" is not in credentials_schema.`,
  'an injection into nowhere': `${bundle}: in: query → in: body ⇒ ${bundle}:16 inject[0].in: Must be one of "header", "query", "form", "json", "bearer", "path", "basic", "aws_sigv4", "hmac", "oauth2"; received "body".`,
  'an injection that lacks a member': `${bundle}: name: appid,  →  ⇒ ${bundle}:16 inject[0].name: Is required.`,
  'an injection template without a place': `${bundle}: name: appid, → name: appid, template: Bearer, ⇒ ${bundle}:16 inject[0].template: Expected "{credential}" at the position of the value.`,
  'a signature over what is nothing of a request': `${bundle}: ${injection} → {in: hmac, credential: WEATHER_KEY, algorithm: sha256, message: '{verb}', signature: {in: header, name: S}} ⇒ ${bundle}:16 inject[0].message: {verb} cannot be signed. Allowed: method, host, path, query, sorted_query, path_and_query, body, body_sha256, body_sha256_base64, timestamp, nonce, header:NAME.`,
  'a signature by an unknown algorithm': `${bundle}: ${injection} → {in: hmac, credential: WEATHER_KEY, algorithm: md5, message: '{body}', signature: {in: header, name: S}} ⇒ ${bundle}:16 inject[0].algorithm: Must be one of "sha1", "sha256", "sha384", "sha512"; received "md5".`,
  'a signature that covers a time nobody declares': `${bundle}: ${injection} → {in: hmac, credential: WEATHER_KEY, algorithm: sha1, message: '{timestamp}', signature: {in: header, name: S}} ⇒ ${bundle}:16 inject[0].timestamp: Is required for {timestamp}.`,
  'a signature in a header that cannot be': `${bundle}: ${injection} → {in: hmac, credential: WEATHER_KEY, algorithm: sha1, message: '{body}', signature: {in: header, name: 'a b'}} ⇒ ${bundle}:16 inject[0].signature.name: "a b" cannot be the name of a header.`,
  'a signature with a credential that is not there': `${bundle}: ${injection} → {in: hmac, credential: WEATHER_KEY, algorithm: sha1, message: '{credential:KEY_ID}', signature: {in: header, name: S}} ⇒ ${bundle}:16 inject[0].message: "KEY_ID" is not in credentials_schema.`,
  'an AWS signature for a region that is not there': `${bundle}: ${injection} → {in: aws_sigv4, access_key_id: ACCOUNT, secret_access_key: WEATHER_KEY, service: s3, region: {credential: REGION}} ⇒ ${bundle}:16 inject[0].region.credential: "REGION" is not in credentials_schema.`,
  'an access token from a host that is not declared': `${bundle}: ${injection} → {in: oauth2, grant: client_credentials, token_url: "https://evil.example/t", client_id: ACCOUNT, client_secret: WEATHER_KEY} ⇒ ${bundle}:16 inject[0].token_url: The host evil.example is not one of the bundle's "hosts" (api.example.com).`,
  'an access token that is asked for in the open': `${bundle}: ${injection} → {in: oauth2, grant: client_credentials, token_url: "http://api.example.com/t", client_id: ACCOUNT, client_secret: WEATHER_KEY} ⇒ ${bundle}:16 inject[0].token_url: Must be an https:// URL, because access tokens are requested over TLS only.`,
  'a refresh without a refresh token': `${bundle}: ${injection} → {in: oauth2, grant: refresh_token, token_url: "https://api.example.com/t", client_id: ACCOUNT, client_secret: WEATHER_KEY} ⇒ ${bundle}:16 inject[0].refresh_token: Is required for the grant refresh_token.`,
  'a client without a secret': `${bundle}: ${injection} → {in: oauth2, grant: client_credentials, token_url: "https://api.example.com/t", client_id: ACCOUNT} ⇒ ${bundle}:16 inject[0].client_secret: Is required, unless "client_authentication" is none.`,
  'a credential that is not text': `${bundle}: ACCOUNT: {type: string → ACCOUNT: {type: integer ⇒ ${bundle}:14 credentials_schema.properties.ACCOUNT: Must have "type: string", because a credential is a string.`,
  'a verify request to another host': `${bundle}: https://api.example.com/v1/me → https://example.com/v1/me ⇒ ${bundle}:19 verify.request.url: The host example.com is not one of the bundle's "hosts" (api.example.com).`,
  'a verify request with a parameter': `${bundle}: /v1/me → /v1/{lat} ⇒ ${bundle}:19 verify.request.url: {lat} is not a property of input_schema.`,
  'a YAML file in a sub-folder': `weather/more/get_snow.yaml:  → ${pluginYaml} ⇒ weather/more/get_snow.yaml:- (file): YAML files in subfolders are not loaded. Move it into the folder of the bundle or into fixtures/.`,
  'a plugin file with another ending': `weather/get_snow.yml:  → ${pluginYaml} ⇒ weather/get_snow.yml:- (file): Must end in .yaml, like every plugin file.`,
  'a folder without a manifest': `empty/readme.md:  → Nothing. ⇒ empty/bundle.yaml:- (file): The file bundle.yaml does not exist in the folder.`,
  'a bundle without plugins': `alone/bundle.yaml:  → ${bundleYaml.replace('id: weather', 'id: alone').replace('icon: icon.svg\n', '')} ⇒ alone/bundle.yaml:- (file): The bundle has no plugin. Add a .yaml file for a plugin to its folder.`,
};

for (const [name, row] of Object.entries(invalidFiles)) {
  test(`${name} is reported with file, line and field, and hides no other bundle`, async (t) => {
    const [, file = '', from = '', to = '', says = ''] = /^(.+?): (.*?) → (.*?) ⇒ (.*)$/s.exec(row) ?? [];
    const catalogue = await load(await createFolder(t, { ...goodFiles, ...withError(file, from, to) }));
    assert.deepEqual(reported(catalogue), says.split(' ⇒ '));
    // The other bundle still loads, and so does this one when only a plugin is wrong, because each file is checked
    // alone.
    const other = file.startsWith('sums/') ? 'weather/get_weather' : 'sums/add';
    assert.ok(pluginNames(catalogue).includes(other), `${other} is hidden`);
    if (file.endsWith('get_weather.yaml')) assert.ok(catalogue.findBundle('weather'), 'the bundle is hidden');
  });
}

test('a folder without errors has no failures', async (t) => {
  const catalogue = await load(await createFolder(t, goodFiles));
  assert.deepEqual(reported(catalogue), []);
  assert.deepEqual(pluginNames(catalogue), ['sums/add', 'weather/get_weather']);
});

/** Replaces parts of a file of a good bundle. */
function changed(file: string, ...changes: ReadonlyArray<readonly [from: string, to: string]>): Files {
  const text = changes.reduce((before, [from, to]) => {
    assert.ok(before.includes(from), from);
    return before.replace(from, () => to);
  }, String(goodFiles[file]));
  return { [file]: text };
}

test('the errors of bundle.yaml and of all plugins are reported in one go', async (t) => {
  const files = {
    ...goodFiles,
    ...changed(bundle, ['version: 1.0.0\n', ''], ['id: weather', 'id: clouds'], ['developer:', 'developper:']),
    ...changed(
      plugin,
      ['effects: read\n', ''],
      ['required: [lat, lon]', 'required: [lat, long]'],
      ['https://api.example.com/', 'https://evil.example/'],
    ),
    'weather/add.yaml': handlerYaml.replace('effects: read', 'effects: reads'),
  };
  const catalogue = await load(await createFolder(t, files));
  assert.equal(catalogue.findBundle('weather'), undefined);
  const lines = reported(catalogue);
  const says = (start: string) =>
    lines.filter((line) => line.startsWith(start)).map((line) => line.slice(start.length));
  assert.deepEqual(
    says(`${bundle}:`).map((line) => line.slice(line.indexOf(' ') + 1).replace(/Allowed: .*/, '')),
    [
      'version: Is required.',
      'developer: Is required.',
      'developper: Unknown member "developper". Did you mean "developer"? ',
      'id: Must be "weather", the name of the folder; received "clouds".',
    ],
  );
  assert.deepEqual(
    says(`${plugin}:`).map((line) => line.slice(line.indexOf(' ') + 1)),
    [
      'effects: Is required.',
      'input_schema.required[1]: "long" is not listed in "properties".',
      'request.url: The host evil.example is not one of the bundle\'s "hosts" (api.example.com).',
    ],
  );
  assert.deepEqual(
    says('weather/add.yaml:').map((line) => line.slice(line.indexOf(' ') + 1)),
    [
      'effects: Must be one of "read", "write", "destructive"; received "reads".',
      'handler: The file add.ts does not exist in the folder.',
    ],
  );
});

test('without valid hosts no request is checked against them, and other errors of plugins are reported', async (t) => {
  const files = {
    ...goodFiles,
    ...changed(bundle, ['hosts: [api.example.com]', 'hosts: 5']),
    ...changed(plugin, ['required: [lat, lon]', 'required: [lat, long]']),
  };
  const lines = reported(await load(await createFolder(t, files)));
  assert.deepEqual(
    lines.map((line) => line.split(' ')[1]),
    ['hosts:', 'input_schema.required[1]:'],
  );
});

test('a bundle whose bundle.yaml is no YAML still reports the errors of its plugins', async (t) => {
  const files = {
    ...goodFiles,
    ...changed(bundle, ['version: 1.0.0', 'version: [1']),
    ...changed(plugin, ['required: [lat, lon]', 'required: [lat, long]']),
  };
  const lines = reported(await load(await createFolder(t, files)));
  assert.deepEqual(
    lines.map((line) => line.slice(0, line.indexOf(':'))),
    [bundle, plugin],
  );
});

test('an invalid plugin does not hide the other plugins of its bundle', async (t) => {
  const files = {
    ...goodFiles,
    'sums/add_more.yaml': handlerYaml.replace('id: add', 'id: add_more').replace('a,', 'c,'),
  };
  const catalogue = await load(await createFolder(t, files));
  assert.deepEqual(reported(catalogue), [
    'sums/add_more.yaml:8 input_schema.required[0]: "c" is not listed in "properties".',
  ]);
  assert.equal(catalogue.findBundle('sums')?.plugins.size, 1);
});

test('a handler or an icon that is a link is refused, wherever the link leads', async (t) => {
  const { 'sums/add.ts': code, 'weather/icon.svg': icon, ...files } = goodFiles;
  assert.ok(code && icon);
  const folder = await createFolder(t, { ...files, 'elsewhere.ts': code, 'elsewhere.svg': icon });
  await symlink('../elsewhere.ts', join(folder, 'sums/add.ts'));
  await symlink('../elsewhere.svg', join(folder, 'weather/icon.svg'));
  assert.deepEqual(reported(await load(folder)), [
    'sums/add.yaml:16 handler: add.ts is a symbolic link. Replace it with the file.',
    'weather/bundle.yaml:7 icon: icon.svg is a symbolic link. Replace it with the file.',
  ]);
});

test('when two folders contain the same bundle id, the first folder wins and the second is a failure', async (t) => {
  const first = await createFolder(t, goodFiles);
  const second = await createFolder(t, { ...goodFiles, 'sums/bundle.yaml': 'id: sums' });
  const catalogue = await load(first, second);
  assert.deepEqual(
    catalogue.failures.filter(({ field }) => field === 'id').map(({ file }) => file),
    ['weather/bundle.yaml'],
  );
  assert.equal(catalogue.findBundle('weather')?.folder, join(first, 'weather'));
});

test('a missing folder is a failure, and the others are read', async (t) => {
  const folder = await createFolder(t, goodFiles);
  const catalogue = await load(join(folder, 'missing'), folder);
  assert.deepEqual(reported(catalogue), [
    `.:- (file): The folder of bundles ${folder}/missing cannot be read (ENOENT).`,
  ]);
  assert.equal(catalogue.bundles.size, 2);
});

function withError(file: string, from: string, to: string): Files {
  if (from === '') return { [file]: Buffer.from(to, to.includes('\xff') ? 'latin1' : 'utf8') };
  return changed(file, [from, to]);
}

function reported(catalogue: Catalogue): string[] {
  return catalogue.failures.map(({ file, line, field, message }) => `${file}:${line ?? '-'} ${field}: ${message}`);
}

function pluginNames(catalogue: Catalogue): string[] {
  return [...catalogue.bundles.values()].flatMap(({ id, plugins }) =>
    [...plugins.keys()].map((name) => `${id}/${name}`),
  );
}

function doublings(count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const below = `{$ref: "#/$defs/d${index}"}`;
    return `    d${index + 1}: {allOf: [${below}, ${below}]}\n`;
  }).join('');
}

test('at most one hundred errors of a file are reported', async (t) => {
  const names = Array.from({ length: 1_500 }, (_, at) => `p${at}: {}`).join(', ');
  const many = pluginYaml.replace('units: {type', `${names}, units: {type`);
  const flow = many.replace(/ {2}properties:\n((?: {4}.*\n)+)/, (_, lines: string) => {
    return `  properties: {${lines.trim().split(/\n */).join(', ')}}\n`;
  });
  const { failures } = await load(await createFolder(t, { ...goodFiles, [plugin]: flow }));
  assert.equal(failures.length, 101);
  assert.match(failures[99]?.message ?? '', /^Must have a description/);
  assert.equal(failures[100]?.message, 'There are more errors, which are not listed.');
});

test('an invalid icon is left out, and the bundle loads', async (t) => {
  const { 'weather/icon.svg': _, ...files } = goodFiles;
  const catalogue = await load(await createFolder(t, files));
  assert.equal(catalogue.failures.length, 1);
  assert.equal(catalogue.findBundle('weather')?.plugins.size, 1);
  assert.equal(catalogue.findIcon('weather'), undefined);
});
