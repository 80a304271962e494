import { connect } from 'node:tls';
import { type Check, failed, ok, warning } from './check.ts';

const dayMs = 86_400_000;
const fewDays = 14;
const timeoutMs = 10_000;

/** Checks that the certificate is trusted, and how long it is valid. */
export function checkCertificate(url: string): Promise<Check> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port || 443), servername: /^[\d.:]+$/.test(host) ? '' : host });
    const end = (check: Check) => {
      socket.destroy();
      resolve(check);
    };
    socket.setTimeout(timeoutMs, () => end(failed('encryption', `No TLS handshake with ${url} within 10 s.`)));
    socket.once('error', ({ message }) => end(failed('encryption', `The TLS connection failed: ${message}.`)));
    socket.once('secureConnect', () => {
      end(judgeCertificate(socket.getPeerCertificate().valid_to, socket.getProtocol(), Date.now()));
    });
  });
}

/** @param validTo the end of the certificate, as OpenSSL writes it */
export function judgeCertificate(validTo: string, protocol: string | null, now: number): Check {
  const days = Math.floor((Date.parse(validTo) - now) / dayMs);
  const text = `${protocol}; the certificate is valid for ${days} more days`;
  return days < fewDays ? warning('encryption', `${text}. Renew it.`) : ok('encryption', text);
}
