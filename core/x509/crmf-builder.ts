import { type DerBuilder, der } from '../der/builder.ts';
import { readDer } from '../der/reader.ts';
import { context, contextConstructed, tag } from '../der/tag.ts';
import { signatureAlgorithmIdentifier } from './algorithm.ts';
import { type CertTemplate, type Control, type ProofOfPossession, privateKeyMethods } from './crmf.ts';
import { addExtension } from './extension.ts';

/** Builds a CertTemplate (DER, RFC 4211 §5) with the given fields. */
export function buildCertTemplate(fields: Partial<Omit<CertTemplate, 'der'>>): Uint8Array {
  const { version, serial, signingAlg, issuer, validity, subject, spki, extensions = [] } = fields;
  return der((b) =>
    b.sequence((template) => {
      if (version !== undefined) template.integer(version, context(0));
      if (serial) template.add(context(1), serial);
      if (signingAlg) template.explicit(2, contentsOf(signingAlg));
      if (issuer) template.explicit(3, issuer.der);
      if (validity) template.explicit(4, (times) => addValidity(times, validity));
      if (subject) template.explicit(5, subject.der);
      if (spki) template.explicit(6, contentsOf(spki));
      if (extensions.length === 0) return;
      template.explicit(9, (list) => {
        for (const extension of extensions) addExtension(list, extension);
      });
    }),
  );
}

/** Returns the contents of a SEQUENCE, to be put under an implicit tag. */
const contentsOf = (sequence: Uint8Array): Uint8Array => readDer(sequence, (r) => r.contents(tag.sequence));

function addValidity(b: DerBuilder, validity: NonNullable<CertTemplate['validity']>): void {
  const { notBefore, notAfter } = validity;
  if (notBefore !== undefined) b.explicit(0, (time) => time.time(notBefore));
  if (notAfter !== undefined) b.explicit(1, (time) => time.time(notAfter));
}

/** Builds a CertRequest (DER, RFC 4211 §5), over which the proof of possession is signed. `template`: DER. */
export function buildCertRequest(
  certReqId: number,
  template: Uint8Array,
  controls: readonly Control[] = [],
): Uint8Array {
  return der((b) =>
    b.sequence((request) => {
      request.integer(certReqId).raw(template);
      addControls(request, controls);
    }),
  );
}

/** Builds a CertReqMsg (DER, RFC 4211 §3). `certRequest`: DER. */
export function buildCertReqMsg(
  certRequest: Uint8Array,
  proof: ProofOfPossession,
  regInfo: readonly Control[] = [],
): Uint8Array {
  return der((b) =>
    b.sequence((message) => {
      message.raw(certRequest);
      addProof(message, proof);
      addControls(message, regInfo);
    }),
  );
}

function addControls(b: DerBuilder, controls: readonly Control[]): void {
  if (controls.length === 0) return;
  b.sequence((list) => {
    for (const { type, value } of controls) list.sequence((control) => control.oid(type).raw(value));
  });
}

function addProof(b: DerBuilder, proof: ProofOfPossession): void {
  switch (proof.kind) {
    case 'none':
      break;
    case 'raVerified':
      b.add(context(0), new Uint8Array());
      break;
    case 'signature':
    case 'signatureOverInput':
      b.explicit(1, (signed) => {
        if (proof.kind === 'signatureOverInput') signed.add(contextConstructed(0), contentsOf(proof.input));
        signed.raw(signatureAlgorithmIdentifier(proof.algorithm)).bitString(proof.signature);
      });
      break;
    case 'keyEncipherment':
    case 'keyAgreement':
      b.explicit(proof.kind === 'keyEncipherment' ? 2 : 3, (p) =>
        p.add(privateKeyMethods[proof.method], proof.value),
      );
  }
}
