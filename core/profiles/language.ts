import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { keyUsages } from '../x509/extensions/usage.ts';

// The language of certificate profiles. This one description gives the static type, the JSON Schema that the API
// publishes, and the check of submitted rules. `compileProfile` checks what a schema cannot express: that templates
// parse, and that rules do not contradict each other.

const closed = { additionalProperties: false };
const optional = Type.Optional;
const describe = <T extends TSchema>(description: string, schema: T): T => ({ ...schema, description });

const oid = Type.String({ pattern: '^[0-2](\\.(0|[1-9]\\d{0,14})){1,30}$' });
const uri = Type.String({ minLength: 1, maxLength: 1024 });

const template = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'Text with fields such as {device.common_name}. Write a literal brace twice',
});
const oneOrMore = Type.Union([template, Type.Array(template, { minItems: 1, maxItems: 16 })], {
  title: 'a template or a list of 1 to 16 templates',
});

const unfit = describe(
  'For a requested value that does not fit: refuse rejects the request (default), drop omits the value',
  Type.Union([Type.Literal('refuse'), Type.Literal('drop')]),
);
const required = describe(
  'Whether the certificate must have a value, requested or by default',
  Type.Boolean(),
);
const forbidden = describe('Whether the certificate must not have a value', Type.Boolean());
const most = describe('The maximum number of values', Type.Integer({ minimum: 1, maximum: 32 }));

const valueRule = {
  fixed: optional(
    describe('The certificate always has these values. Other requested values do not fit', oneOrMore),
  ),
  default: optional(describe('The value if the request has none, provided it fits', oneOrMore)),
  allowed: optional(describe('The values that fit', Type.Array(template, { minItems: 1, maxItems: 100 }))),
  pattern: optional(
    describe(
      'A pattern in RE2 syntax that the whole value must match',
      Type.String({ minLength: 1, maxLength: 1000 }),
    ),
  ),
  required: optional(required),
  forbidden: optional(forbidden),
  most: optional(most),
  unfit: optional(unfit),
};

/**
 * Rules about extensions that are lists of purposes. If `allowed` is absent, the purposes in `default` and `required`
 * are allowed.
 */
function purposeRule<T extends TSchema>(purpose: T) {
  const purposes = Type.Array(purpose, { minItems: 1, maxItems: 20, uniqueItems: true });
  return {
    fixed: optional(
      describe('The certificate always has these purposes. Other requested purposes do not fit', purposes),
    ),
    default: optional(describe('The purposes if the request names none', purposes)),
    allowed: optional(
      describe('The purposes that a request may name. If absent: those in default and required', purposes),
    ),
    required: optional(describe('The purposes that the request, or the default, must name', purposes)),
    forbidden: optional(forbidden),
    unfit: optional(unfit),
  };
}

const encodedValue = describe(
  'An extension value: DER as hexadecimal or base64, or the text of a UTF8String',
  Type.Object(
    {
      hex: optional(Type.String({ minLength: 4, maxLength: 8192 })),
      base64: optional(Type.String({ minLength: 4, maxLength: 5500 })),
      text: optional(template),
    },
    closed,
  ),
);
const critical = describe('Whether the extension is marked critical', Type.Boolean());
const service = describe('Whether the list begins with the URL of this service', Type.Boolean());
const uris = Type.Array(uri, { minItems: 1, maxItems: 8 });

const others = describe(
  'For requested values without a rule: refuse rejects the request (default), drop omits them, keep issues them',
  Type.Union([Type.Literal('refuse'), Type.Literal('drop'), Type.Literal('keep')]),
);

/** JSON Schema of a profile. */
export const profileRulesSchema = Type.Object(
  {
    description: optional(Type.String({ maxLength: 500 })),
    keys: optional(
      Type.Object(
        {
          allowed: optional(
            describe(
              'The permitted key types. "rsa" permits any RSA key, "rsa-3072" only this size',
              Type.Array(
                Type.String({
                  pattern: '^(rsa|rsa-[2-8]\\d{3}|p-256|p-384|p-521|ed25519|ml-dsa-44|ml-dsa-65|ml-dsa-87)$',
                }),
                { minItems: 1, maxItems: 20 },
              ),
            ),
          ),
          minimumRsaBits: optional(Type.Integer({ minimum: 2048, maximum: 8192 })),
        },
        closed,
      ),
    ),
    validity: describe(
      'Either duration or until. The certificate never expires later than its CA',
      Type.Object(
        {
          duration: optional(describe('ISO 8601, for example P2Y or P398D', Type.String({ maxLength: 40 }))),
          until: optional(describe('UTC, for example 9999-12-31T23:59:59Z', Type.String({ maxLength: 20 }))),
        },
        closed,
      ),
    ),
    subject: optional(
      describe(
        'Rules by attribute type: a name such as CN, or an OID. Each attribute may occur once unless most allows more',
        Type.Record(
          Type.String({ pattern: '^([A-Za-z]{1,40}|[0-2](\\.(0|[1-9]\\d{0,14})){1,30})$' }),
          Type.Object(valueRule, closed),
          { ...closed, maxProperties: 40 },
        ),
      ),
    ),
    subjectAltName: optional(
      Type.Object(
        {
          dns: optional(
            Type.Object(
              {
                ...valueRule,
                wildcards: optional(describe('Whether wildcards such as *.example.com fit', Type.Boolean())),
              },
              closed,
            ),
          ),
          ip: optional(Type.Object(valueRule, closed)),
          uri: optional(Type.Object(valueRule, closed)),
          email: optional(Type.Object(valueRule, closed)),
          directory: optional(
            describe('Distinguished names in the format of RFC 4514', Type.Object(valueRule, closed)),
          ),
          registeredId: optional(describe('OIDs', Type.Object(valueRule, closed))),
          otherName: optional(
            describe(
              'An OID, `;`, and the text of a UTF8String, or `#` and DER in hexadecimal: 1.3.6.1.4.1.311.20.2.3;{device.common_name}@plant. A pattern applies only to the text',
              Type.Object({ ...valueRule, types: Type.Array(oid, { minItems: 1, maxItems: 20 }) }, closed),
            ),
          ),
          atLeastOneOf: optional(
            describe(
              'The kinds of names of which the certificate must have at least one',
              Type.Array(
                Type.Union(
                  (['dns', 'ip', 'uri', 'email', 'directory', 'registeredId', 'otherName'] as const).map(
                    (kind) => Type.Literal(kind),
                  ),
                ),
                { minItems: 1, maxItems: 7, uniqueItems: true },
              ),
            ),
          ),
        },
        closed,
      ),
    ),
    extensions: optional(
      Type.Object(
        {
          basicConstraints: optional(
            Type.Object(
              { ca: Type.Boolean(), pathLength: optional(Type.Integer({ minimum: 0, maximum: 20 })) },
              closed,
            ),
          ),
          keyUsage: optional(
            describe(
              'Usages that the key type does not support (keyEncipherment without RSA) are omitted',
              Type.Object(purposeRule(Type.Union(keyUsages.map((usage) => Type.Literal(usage)))), closed),
            ),
          ),
          extendedKeyUsage: optional(
            describe(
              'By name (serverAuth, clientAuth, codeSigning, …) or OID',
              Type.Object(
                {
                  ...purposeRule(Type.String({ minLength: 1, maxLength: 200 })),
                  critical: optional(critical),
                },
                closed,
              ),
            ),
          ),
          certificatePolicies: optional(
            Type.Object(
              {
                policies: Type.Array(Type.Object({ oid, cps: optional(uri) }, closed), {
                  minItems: 1,
                  maxItems: 20,
                }),
                critical: optional(critical),
              },
              closed,
            ),
          ),
          crlDistributionPoints: optional(Type.Object({ service, urls: optional(uris) }, closed)),
          authorityInfoAccess: optional(
            Type.Object({ service, caIssuers: optional(uris), ocsp: optional(uris) }, closed),
          ),
          custom: optional(
            describe(
              'Other extensions by OID. Without fixed, the requested value is used',
              Type.Record(
                oid,
                Type.Object(
                  {
                    critical: optional(critical),
                    fixed: optional(encodedValue),
                    default: optional(encodedValue),
                    allowed: optional(Type.Array(encodedValue, { minItems: 1, maxItems: 20 })),
                    pattern: optional(
                      describe(
                        'A pattern that the whole text of a string value must match',
                        Type.String({ minLength: 1, maxLength: 1000 }),
                      ),
                    ),
                    required: optional(required),
                    forbidden: optional(forbidden),
                    unfit: optional(unfit),
                  },
                  closed,
                ),
                { ...closed, maxProperties: 20 },
              ),
            ),
          ),
        },
        closed,
      ),
    ),
    others: optional(
      Type.Object(
        { subject: optional(others), subjectAltName: optional(others), extensions: optional(others) },
        closed,
      ),
    ),
  },
  closed,
);

export type ProfileRules = Static<typeof profileRulesSchema>;
