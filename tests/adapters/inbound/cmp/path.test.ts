import { expect, test } from 'bun:test';
import { type CmpPath, parseCmpPath } from '#adapters/inbound/cmp/path.ts';

const path = (operation?: string, domain?: string, profile?: string): CmpPath => ({
  operation,
  domain,
  profile,
});

const forms: [text: string, CmpPath | undefined][] = [
  ['', path()],
  ['/', path()],
  ['/ir', path('ir')],
  ['/ir/', path('ir')],
  ['/IR', path('ir')],
  ['/certConf', path('certconf')],
  ['/getCACerts', path('getcacerts')],
  ['/p/plant', path(undefined, 'plant')],
  ['/p/plant/', path(undefined, 'plant')],
  ['/p/plant/ir', path('ir', 'plant')],
  ['/p/plant/initialization', path('initialization', 'plant')],
  ['/p/plant/tls_client', path(undefined, 'plant', 'tls_client')],
  ['/p/plant/tls_client/kur', path('kur', 'plant', 'tls_client')],
  ['/p/plant~tls_client', path(undefined, 'plant', 'tls_client')],
  ['/p/plant~tls_client/kur/', path('kur', 'plant', 'tls_client')],
  ['/p/plant~ir/cr', path('cr', 'plant', 'ir')],
  ['/p/plant~', path(undefined, 'plant')],
  ['/p/plant~/cr', path('cr', 'plant')],
  ['/p/~tls_client', path(undefined, undefined, 'tls_client')],
  ['/p/~tls_client/genm', path('genm', undefined, 'tls_client')],
  ['/p/.', path()],
  ['/p/_/rr', path('rr')],
  ['/p/.~tls_client', path(undefined, undefined, 'tls_client')],
  ['/p/./tls_client/cr', path('cr', undefined, 'tls_client')],
  ['/p/pl%C3%A4nt/cr', path('cr', 'plänt')],
  ['/p', undefined],
  ['/p/', undefined],
  ['/p/~', undefined],
  ['/plant', undefined],
  ['/ir/plant', undefined],
  ['/p/plant/ir/cr', undefined],
  ['/p/plant/tls_client/other', undefined],
  ['/p/plant/tls_client/ir/ir', undefined],
  ['/p/plant~tls_client/other', undefined],
  ['/p//ir', undefined],
  ['/p/a%2Fb', undefined],
];

test.each(forms)('%s', (text, expected) => {
  expect(parseCmpPath(text)).toEqual(expected);
});
