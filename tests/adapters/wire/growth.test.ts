import { expect, test } from 'bun:test';
import { decodeBase64 } from '#adapters/wire/base64.ts';
import { berToDer } from '#adapters/wire/ber.ts';
import { readMacAlgorithm } from '#adapters/wire/cmp/mac.ts';
import { openPkiMessage, parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { readCsv } from '#adapters/wire/csv.ts';
import { decodePem } from '#adapters/wire/pem.ts';
import { buildCertsOnly, readCertificates } from '#adapters/wire/pkcs7.ts';
import { readPkcs12 } from '#adapters/wire/pkcs12.ts';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';
import { context, contextConstructed, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseCrl } from '#core/x509/crl.ts';
import { parseCertReqMsg } from '#core/x509/crmf.ts';
import { decodeExtendedKeyUsage } from '#core/x509/extensions/usage.ts';
import { formatGeneralName, parseGeneralName, readGeneralNames } from '#core/x509/general-name.ts';
import {
  buildName,
  formatDistinguishedName,
  type Name,
  parseDistinguishedName,
  readName,
  sameName,
} from '#core/x509/name.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { growsFasterThanInput } from '#tests/growth.ts';

const octets = (size: number): Uint8Array => new Uint8Array(size).fill(0x5a);
const many = (size: number, member: (b: DerBuilder, n: number) => void) => (b: DerBuilder) => {
  for (let n = 0; n < size; n++) member(b, n);
};
const integer = (size: number) => (b: DerBuilder) => void b.add(tag.integer, octets(size));

/** MAC parameters (RFC 8018 §A.2, RFC 9810 §5.1.3.1): a client without the secret can send them. */
const pbkdf2 = (count: (b: DerBuilder) => void, length: (b: DerBuilder) => void) =>
  der((b) =>
    b.sequence((algorithm) =>
      algorithm.oid('1.2.840.113549.1.5.14').sequence((p) => {
        p.sequence((d) =>
          d.oid('1.2.840.113549.1.5.12').sequence((s) => {
            s.octetString(octets(16));
            count(s);
            length(s);
          }),
        );
        p.sequence((h) => h.oid('1.2.840.113549.2.9'));
      }),
    ),
  );
const passwordBasedMac = (count: (b: DerBuilder) => void) =>
  der((b) =>
    b.sequence((algorithm) =>
      algorithm.oid('1.2.840.113533.7.66.13').sequence((p) => {
        p.octetString(octets(16)).sequence((h) => h.oid('2.16.840.1.101.3.4.2.1'));
        count(p);
        p.sequence((h) => h.oid('1.2.840.113549.2.9'));
      }),
    ),
  );
const usual = (b: DerBuilder) => void b.integer(1000);

/** Returns a name with one RDN and the maximum of attributes, whose values have this many characters in total. */
const longName = (size: number): Name =>
  buildName([
    Array.from({ length: 64 }, (_, n) => ({
      type: `1.2.3.${n}`,
      value: 'ä '.repeat(size / 128),
      tag: tag.utf8String,
    })),
  ]);

const certificate = (serial: (b: DerBuilder) => void, name: Uint8Array) =>
  der((b) =>
    b.sequence((c) => {
      const algorithm = (s: DerBuilder) => void s.oid('1.2.840.10045.4.3.2');
      c.sequence((tbs) => {
        serial(tbs);
        tbs.sequence(algorithm).raw(name);
        tbs.sequence((v) => v.time(0).time(1)).raw(name);
        tbs.sequence((key) => key.sequence(algorithm).bitString(octets(65)));
      });
      c.sequence(algorithm).bitString(octets(64));
    }),
  );

/** The parser to run on an input of `size` octets. */
const decoders: readonly (readonly [what: string, of: (size: number) => () => unknown])[] = [
  [
    'an INTEGER',
    (size) => {
      const n = der(integer(size));
      return () => readDer(n, (r) => r.integer());
    },
  ],
  [
    'an iteration count of PBMAC1',
    (size) => {
      const p = pbkdf2(integer(size), usual);
      return () => readMacAlgorithm(p);
    },
  ],
  [
    'a key length of PBMAC1',
    (size) => {
      const p = pbkdf2(usual, integer(size));
      return () => readMacAlgorithm(p);
    },
  ],
  [
    'an iteration count of PasswordBasedMac',
    (size) => {
      const p = passwordBasedMac(integer(size));
      return () => readMacAlgorithm(p);
    },
  ],
  [
    'a serial number',
    (size) => {
      const c = certificate(integer(size), longName(1280).der);
      return () => parseCertificate(c);
    },
  ],
  [
    'the serial number of a template',
    (size) => {
      const m = der((b) =>
        b.sequence((s) => s.sequence((r) => r.integer(0).sequence((t) => t.add(context(1), octets(size))))),
      );
      return () => parseCertReqMsg(m);
    },
  ],
  [
    'a name of a certificate',
    (size) => {
      const c = certificate(usual, longName(size).der);
      return () => parseCertificate(c);
    },
  ],
  [
    'two names that are compared',
    (size) => {
      const [a, b] = [longName(size), longName(size)].map(({ der: encoded }) => readDer(encoded, readName));
      const other = { der: new Uint8Array(0), rdns: b!.rdns.map((rdn) => rdn.toReversed()) };
      return () => sameName(a!, other);
    },
  ],
  [
    'a name that is printed',
    (size) => {
      const name = longName(size);
      return () => formatDistinguishedName(name);
    },
  ],
  [
    'the text of a name',
    (size) => () => parseDistinguishedName(`CN=${'a'.repeat(size / 2)}${' '.repeat(size / 2)}b`),
  ],
  [
    'the DER in the text of a name',
    (size) => () => parseDistinguishedName(`CN=#${'0c0161'.repeat(size / 6)}`),
  ],
  ['escapes in the text of a name', (size) => () => parseDistinguishedName(`CN=${'\\41'.repeat(size / 3)}`)],
  [
    'general names',
    (size) => {
      const list = der((b) => b.sequence(many(size / 4, (s) => void s.string('ab', context(2)))));
      return () => readDer(list, (r) => readGeneralNames(r)).map(formatGeneralName);
    },
  ],
  ['the text of a general name', (size) => () => parseGeneralName(`DNS:${'a-'.repeat(size / 2)}`)],
  [
    'purposes',
    (size) => {
      const list = der((b) => b.sequence(many(size / 5, (s) => void s.oid('1.2.3.4'))));
      return () => decodeExtendedKeyUsage(list);
    },
  ],
  [
    'an OID',
    (size) => {
      const o = der((b) => b.add(tag.oid, octets(size)));
      return () => readDer(o, (r) => r.oid());
    },
  ],
  [
    'attributes of a request',
    (size) => {
      const algorithm = (s: DerBuilder) => void s.oid('1.2.840.10045.4.3.2');
      const csr = der((b) =>
        b.sequence((c) => {
          c.sequence((info) => {
            info
              .integer(0)
              .sequence(() => {})
              .sequence((key) => key.sequence(algorithm).bitString(octets(65)));
            info.explicit(
              0,
              many(size / 12, (a, n) => void a.sequence((one) => one.oid(`1.2.${n}`).set(() => {}))),
            );
          });
          c.sequence(algorithm).bitString(octets(64));
        }),
      );
      return () => verifyPkcs10(csr);
    },
  ],
  [
    'entries of a CRL',
    (size) => {
      const algorithm = (s: DerBuilder) => void s.oid('1.2.840.10045.4.3.2');
      const crl = der((b) =>
        b.sequence((c) => {
          c.sequence((tbs) => {
            tbs
              .sequence(algorithm)
              .sequence(() => {})
              .time(0);
            tbs.sequence(many(size / 20, (list, n) => void list.sequence((e) => e.integer(n + 1).time(0))));
          });
          c.sequence(algorithm).bitString(octets(64));
        }),
      );
      return () => parseCrl(crl);
    },
  ],
  [
    'messages in messages',
    (size) => {
      let message = der((b) => b.sequence((s) => s.octetString(octets(size))));
      for (let n = 0; n < 6; n++) {
        const inner = message;
        message = der((b) => b.sequence((s) => s.sequence(() => {}).explicit(20, (l) => l.sequence(inner))));
      }
      return () => parsePkiMessage(message);
    },
  ],
  [
    'values of generalInfo',
    (size) => {
      const header = (b: DerBuilder) => {
        b.integer(2)
          .add(contextConstructed(4), (d) => d.sequence(() => {}))
          .add(contextConstructed(4), (d) => d.sequence(() => {}));
        b.explicit(8, (i) => i.sequence(many(size / 8, (l) => void l.sequence((v) => v.oid('1.2.3')))));
      };
      const message = der((b) => b.sequence((s) => s.sequence(header).explicit(19, (p) => p.null())));
      return () => openPkiMessage(message);
    },
  ],
  [
    'certificates of PKCS #7',
    (size) => {
      const file = buildCertsOnly(
        new Array(size / 32).fill(octets(0)).map(() => der((b) => b.sequence(octets(28)))),
      );
      return () => readCertificates(file);
    },
  ],
  [
    'BER of strings in pieces',
    (size) => {
      const pieces = der((b) =>
        b.add(
          0x24,
          many(size / 4, (p) => void p.octetString(octets(2))),
        ),
      );
      const ber = Uint8Array.of(0x30, 0x80, ...pieces, 0, 0);
      return () => berToDer(ber);
    },
  ],
  [
    'PKCS #12',
    (size) => {
      const contents = der((b) =>
        b.sequence(
          many(size / 12, (l) => void l.sequence((c) => c.oid('1.2.3').explicit(0, (e) => e.null()))),
        ),
      );
      const file = der((b) =>
        b.sequence((p) =>
          p
            .integer(3)
            .sequence((s) => s.oid('1.2.840.113549.1.7.1').explicit(0, (e) => e.octetString(contents))),
        ),
      );
      return () =>
        readPkcs12(file, '').catch((error) => {
          if (!(error instanceof Fault)) throw error;
        });
    },
  ],
  [
    'blocks of PEM',
    (size) => {
      const text = '-----BEGIN A-----\nAAAA\n-----END A-----\n'.repeat(size / 40);
      return () => decodePem(text);
    },
  ],
  [
    'a block of PEM that does not end',
    (size) => {
      const text = '-----BEGIN A-----\n'.repeat(size / 18);
      return () => decodePem(text);
    },
  ],
  [
    'base64',
    (size) => {
      const text = 'AAAA\n'.repeat(size / 5);
      return () => decodeBase64(text);
    },
  ],
  [
    'columns of CSV',
    (size) => {
      const file = Buffer.from(`${'a,'.repeat(size / 2)}b\n`);
      return () =>
        readCsv(file).then(
          () => undefined,
          (error) => {
            if (!(error instanceof Fault)) throw error;
          },
        );
    },
  ],
];

test.each(decoders)('the work to read %s grows no faster than the input', async (_, of) => {
  const work = (run: () => unknown) => {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return undefined;
    }
  };
  expect(await growsFasterThanInput(of, work, 7680)).toBe(false);
});
