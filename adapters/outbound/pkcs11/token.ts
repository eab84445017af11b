import { randomBytes } from 'node:crypto';
import type { Attribute, Cryptoki, Handle } from 'pkcs11js';
import { cka, ckf, ckk, ckm, cko, ckr, normalUser } from './cryptoki.ts';
import { TokenFailure } from './failure.ts';
import type { KeyTemplate, Place, Scheme, TokenFacts, TokenKey } from './messages.ts';

const readWrite = ckf.readWriteSession | ckf.serialSession;
const idBytes = 16;
/** Octets: an id has at most 64 hexadecimal digits. */
const mostIdBytes = 32;
/** Octets, more than any signature has. */
const mostSignatureBytes = 1024;

/** Keeps buffers alive while other threads use them. */
const underWay = new Set<Buffer>();

/**
 * One token, inside the process with its module. The caller must not run more concurrent operations than the token has
 * sessions. Errors: TokenFailure.
 */
export class Token {
  readonly #module: Cryptoki;
  /** The type number of RSASSA-PSS parameters in pkcs11js. */
  readonly #pssType: number;
  readonly #slot: Handle;
  /** A session that stays open, because the login ends with the last session. */
  readonly #keeper: Handle;
  readonly #idle: Handle[] = [];
  /** Id → private key. */
  readonly #known = new Map<string, Handle>();

  constructor(module: Cryptoki, pssType: number, place: Place) {
    this.#module = module;
    this.#pssType = pssType;
    this.#slot = reach(() => slotOf(module, place));
    this.#keeper = reach(() => module.C_OpenSession(this.#slot, readWrite));
  }

  facts(): TokenFacts {
    return reach(() => {
      const { label, serialNumber, flags } = this.#module.C_GetTokenInfo(this.#slot);
      const offered = this.#module.C_GetMechanismList(this.#slot);
      const mechanisms = Object.values(ckm).filter((mechanism) => offered.includes(mechanism));
      const sizes = mechanisms.map((mechanism) => {
        const { minKeySize, maxKeySize } = this.#module.C_GetMechanismInfo(this.#slot, mechanism);
        return [mechanism, [minKeySize, maxKeySize]] as const;
      });
      return {
        label: label.trim(),
        serial: serialNumber.trim(),
        flags,
        mechanisms: Object.fromEntries(sizes),
      };
    });
  }

  login(pin: string): void {
    try {
      reach(() => this.#module.C_Login(this.#keeper, normalUser, pin));
    } catch (error) {
      if (!hasCode(error, ckr.userAlreadyLoggedIn)) throw error;
    }
  }

  /** Throws unless the token responds. */
  check(): void {
    reach(() => {
      this.#module.C_GetSessionInfo(this.#keeper);
      this.#module.C_GetTokenInfo(this.#slot);
    });
  }

  /** Generates a key pair. The private key cannot leave the token and can only sign. */
  generate(template: KeyTemplate, label: string): Promise<TokenKey> {
    return this.#inSession(async (session) => {
      const common: readonly Attribute[] = [
        { type: cka.token, value: true },
        { type: cka.id, value: randomBytes(idBytes) },
        { type: cka.label, value: Buffer.from(label) },
      ];
      const { mechanism, ofPublic, ofPrivate } = recipe(template);
      const { privateKey, publicKey } = await this.#module.C_GenerateKeyPairAsync(
        session,
        { mechanism },
        [...common, { type: cka.verify, value: true }, ...ofPublic],
        [
          ...common,
          { type: cka.private, value: true },
          { type: cka.sensitive, value: true },
          { type: cka.extractable, value: false },
          { type: cka.sign, value: true },
          ...ofPrivate,
        ],
      );
      return this.#read(session, privateKey, publicKey);
    });
  }

  find(by: { readonly id: string } | { readonly label: string }): Promise<TokenKey> {
    return this.#inSession(async (session) => {
      const privateKey =
        'id' in by
          ? this.#privateKey(session, by.id)
          : this.#only(session, { type: cka.label, value: Buffer.from(by.label) });
      return this.#read(session, privateKey, undefined);
    });
  }

  sign({ id, mechanism, pss, data }: Scheme & { id: string; data: Uint8Array }): Promise<Uint8Array> {
    const how = { mechanism, ...(pss && { parameter: { type: this.#pssType, ...pss } }) };
    return this.#inSession(async (session) => {
      const [input, output] = [fixed(data.length), fixed(mostSignatureBytes)];
      input.set(data);
      underWay.add(input).add(output);
      try {
        this.#module.C_SignInit(session, how, this.#known.get(id) ?? this.#privateKey(session, id));
        return Uint8Array.from(await this.#module.C_SignAsync(session, input, output));
      } catch (error) {
        if (!hasCode(failureOf(error), ckr.keyHandleInvalid, ckr.objectHandleInvalid)) throw error;
        throw vanished();
      } finally {
        underWay.delete(input);
        underWay.delete(output);
      }
    });
  }

  /** Deletes both keys of a pair if they exist. */
  remove(id: string): Promise<void> {
    return this.#inSession(async (session) => {
      this.#known.delete(id);
      for (const of of [cko.privateKey, cko.publicKey]) {
        for (const object of this.#search(session, of, idAttribute(id))) {
          this.#module.C_DestroyObject(session, object);
        }
      }
    });
  }

  /** Runs `work` in a session. A session is not reused after a failure. */
  async #inSession<T>(work: (session: Handle) => Promise<T>): Promise<T> {
    const session = this.#idle.pop() ?? reach(() => this.#module.C_OpenSession(this.#slot, readWrite));
    try {
      const result = await work(session);
      this.#idle.push(session);
      return result;
    } catch (error) {
      try {
        this.#module.C_CloseSession(session);
      } catch {
        // The session ended with the token.
      }
      throw failureOf(error);
    }
  }

  #privateKey(session: Handle, id: string): Handle {
    try {
      const key = this.#only(session, idAttribute(id));
      this.#known.set(id, key);
      return key;
    } catch (error) {
      // After a token was removed, the slot may contain an empty one.
      const wasThere = error instanceof TokenFailure && error.kind === 'notFound' && this.#known.has(id);
      throw wasThere ? vanished() : error;
    }
  }

  #only(session: Handle, attribute: Attribute): Handle {
    const [key, another] = this.#search(session, cko.privateKey, attribute);
    if (!key) throw new TokenFailure('notFound', 'there is no such key');
    if (another) throw new TokenFailure('several', 'the token has several keys of this name');
    return key;
  }

  #search(session: Handle, of: number, attribute: Attribute): readonly Handle[] {
    const isToken = { type: cka.token, value: true };
    this.#module.C_FindObjectsInit(session, [isToken, { type: cka.class, value: of }, attribute]);
    try {
      return this.#module.C_FindObjects(session, 2);
    } finally {
      this.#module.C_FindObjectsFinal(session);
    }
  }

  /** Reads the public key; for RSA from the private key, because some tools leave only that on the token. */
  #read(session: Handle, privateKey: Handle, publicKey: Handle | undefined): TokenKey {
    const [idBytes, kind] = this.#attributes(session, privateKey, [cka.id, cka.keyType]);
    if (idBytes!.length === 0 || idBytes!.length > mostIdBytes) {
      throw new TokenFailure('notFound', `the key has no CKA_ID of 1 to ${mostIdBytes} octets`);
    }
    const id = idBytes!.toString('hex');
    this.#known.set(id, privateKey);
    if (numberOf(kind!) === ckk.rsa) {
      const numbers = this.#attributes(session, privateKey, [cka.modulus, cka.publicExponent]);
      return { id, kind: 'rsa', modulus: numbers[0]!, exponent: numbers[1]! };
    }
    const known = publicKey ?? this.#search(session, cko.publicKey, idAttribute(id))[0];
    if (!known) throw new TokenFailure('notFound', 'the token has the private key without its public key');
    const [parameters, point] = this.#attributes(session, known, [cka.ecParams, cka.ecPoint]);
    const family = numberOf(kind!) === ckk.edwards ? 'edwards' : 'ec';
    return { id, kind: family, parameters: parameters!, point: point! };
  }

  #attributes(session: Handle, object: Handle, types: readonly number[]): readonly Buffer[] {
    const template = types.map((type) => ({ type }));
    return this.#module.C_GetAttributeValue(session, object, template).map(({ value }) => value);
  }
}

function slotOf(module: Cryptoki, { token, slot }: Place): Handle {
  const present = module.C_GetSlotList(true).map((handle) => ({
    handle,
    number: numberOf(handle),
    label: module.C_GetTokenInfo(handle).label.trim(),
  }));
  const [only, another] = present.filter(
    (one) => (slot === undefined || one.number === slot) && (token === undefined || one.label === token),
  );
  if (only && !another) return only.handle;
  const labels = present.map(({ label, number }) => `"${label}" in slot ${number}`).join(', ');
  const there = present.length > 0 ? `present: ${labels}` : 'no token is present';
  throw new TokenFailure('absent', `${only ? 'several tokens match' : 'the token is missing'}; ${there}`);
}

function recipe(template: KeyTemplate) {
  switch (template.kind) {
    case 'rsa':
      return {
        mechanism: ckm.rsaKeyPairGen,
        ofPublic: [
          { type: cka.modulusBits, value: template.bits },
          { type: cka.publicExponent, value: Buffer.from([1, 0, 1]) },
        ],
        ofPrivate: [
          { type: cka.decrypt, value: false },
          { type: cka.unwrap, value: false },
        ],
      };
    case 'ec':
    case 'edwards':
      return {
        mechanism: template.kind === 'ec' ? ckm.ecKeyPairGen : ckm.edwardsKeyPairGen,
        ofPublic: [{ type: cka.ecParams, value: Buffer.from(template.parameters) }],
        ofPrivate: [{ type: cka.derive, value: false }],
      };
  }
}

const idAttribute = (id: string): Attribute => ({ type: cka.id, value: Buffer.from(id, 'hex') });

/** Decodes a CK_ULONG in the byte order of this machine. */
const numberOf = (bytes: Buffer): number => bytes.readUIntLE(0, Math.min(bytes.length, 6));

/** Allocates memory that the JavaScript engine does not move. */
const fixed = (length: number): Buffer => Buffer.from(new ArrayBuffer(length));

const vanished = (): TokenFailure => new TokenFailure('vanished', 'a key is no longer on the token');

function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof TokenFailure && error.code !== undefined && codes.includes(error.code);
}

function reach<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw failureOf(error);
  }
}

/** Converts an error of pkcs11js, which has the code in its message (`CKR_NAME:number`) or in a property. */
function failureOf(error: unknown): TokenFailure {
  if (error instanceof TokenFailure) return error;
  const { message, code } = error as { readonly message: string; readonly code?: unknown };
  const [, name, number] = /(CKR_\w+)(?::(\d+))?/.exec(message) ?? [];
  const known = number === undefined ? code : Number(number);
  if (typeof known === 'number') return new TokenFailure('cryptoki', name ?? message, known);
  return new TokenFailure('cryptoki', message);
}
