/** A self-signed certificate for `secure.example.com` and its key. Only tests use it, and it protects nothing. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBsDCCAVagAwIBAgIUbCu+NiINCyTQsEMknhzPalB6/HUwCgYIKoZIzj0EAwIw
HTEbMBkGA1UEAwwSc2VjdXJlLmV4YW1wbGUuY29tMCAXDTI2MTEyMTA5MjYyMFoY
DzIxMjYxMDI4MDkyNjIwWjAdMRswGQYDVQQDDBJzZWN1cmUuZXhhbXBsZS5jb20w
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASns7xt9gBXB72SkM+DGyxhH1Hbywvr
MMDtj8ZUo41gHhdB0c/LEAvTmX79W//LmHPIbdzRH474ATazWqxdzJaLo3IwcDAd
BgNVHQ4EFgQUVhGbIA0qXPWZaWo8ad+0RQ1hrskwHwYDVR0jBBgwFoAUVhGbIA0q
XPWZaWo8ad+0RQ1hrskwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHREEFjAUghJzZWN1
cmUuZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDSAAwRQIhAOjRb8gvvtTjIfDiftL7
k8tNxFb+gkIA41MOtNBzEid4AiA9zOxSCHg8kmA0yNuy/BdcoUFr3864iE3pic3M
3gTOVA==
-----END CERTIFICATE-----
`;
export const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgej1o4mtbiYzuM+xr
kxMOYeWd4+IaoOva1btf7fznNSehRANCAASns7xt9gBXB72SkM+DGyxhH1Hbywvr
MMDtj8ZUo41gHhdB0c/LEAvTmX79W//LmHPIbdzRH474ATazWqxdzJaL
-----END PRIVATE KEY-----
`;
