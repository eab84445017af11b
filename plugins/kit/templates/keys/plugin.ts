import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  definePlugin,
  Fault,
  type KeyStore,
  type KeyType,
  type SignatureAlgorithm,
  signatureAlgorithmFits,
  signatureHash,
  Type,
  type Vault,
} from 'postern';

const curves = { 'p-256': 'P-256', 'p-384': 'P-384' } as const;
type Supported = keyof typeof curves;
const supported = Object.keys(curves) as readonly Supported[];

/** Stores each private key in a file of one directory, encrypted under the master key of the installation. */
class Keys implements KeyStore {
  readonly keyTypes = supported;
  readonly inProcess = true;
  readonly #directory: string;
  readonly #vault: Vault;

  constructor(directory: string, vault: Vault) {
    this.#directory = directory;
    this.#vault = vault;
  }

  async generate(type: KeyType) {
    const curve = curves[type as Supported];
    if (curve === undefined) {
      throw new Fault('badAlgorithm', `this key store supports only ${supported.join(' and ')}`);
    }
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: curve });
    const id = randomUUID();
    const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' });
    await writeDurably(this.#directory, `${id}.key`, this.#vault.seal(pkcs8, id));
    return { id, spki: spkiOf(privateKey) };
  }

  async publicKey(id: string) {
    return spkiOf(await this.#key(id));
  }

  async sign(id: string, algorithm: SignatureAlgorithm, data: Uint8Array) {
    const key = await this.#key(id);
    const type = key.asymmetricKeyDetails?.namedCurve === 'secp384r1' ? 'p-384' : 'p-256';
    if (!signatureAlgorithmFits(algorithm, type)) {
      throw new Fault('badAlgorithm', `${algorithm} does not fit this key`);
    }
    return new Uint8Array(sign(signatureHash(algorithm), data, { key, dsaEncoding: 'der' }));
  }

  async remove(id: string) {
    if (isId(id)) await rm(this.#path(id), { force: true });
  }

  async health() {
    const there = await stat(this.#directory).then(
      (found) => found.isDirectory(),
      () => false,
    );
    return there ? { ok: true } : { ok: false, detail: 'the directory does not exist' };
  }

  async close() {}

  #path(id: string): string {
    return join(this.#directory, `${id}.key`);
  }

  async #key(id: string): Promise<KeyObject> {
    // The id becomes a file name, so ids that this store cannot have generated never reach the file system.
    const sealed = isId(id) ? await readFile(this.#path(id)).catch(missing) : undefined;
    if (!sealed) throw new Fault('notFound', 'there is no such key');
    const pkcs8 = Buffer.from(this.#vault.open(sealed, id));
    return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  }
}

const isId = (id: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);

const spkiOf = (key: KeyObject): Uint8Array =>
  new Uint8Array(createPublicKey(key).export({ format: 'der', type: 'spki' }));

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw new Fault('unavailable', 'the key cannot be read', { cause: error });
}

/** Writes a file completely and durably, or not at all, as `generate` must. */
async function writeDurably(directory: string, name: string, bytes: Uint8Array): Promise<void> {
  const path = join(directory, name);
  try {
    const file = await open(`${path}.new`, 'wx', 0o600);
    await file.writeFile(bytes);
    await file.sync();
    await file.close();
    await rename(`${path}.new`, path);
    const entry = await open(directory);
    await entry.sync();
    await entry.close();
  } catch (error) {
    throw new Fault('unavailable', 'the key cannot be written', { cause: error });
  }
}

export default definePlugin({
  slot: 'keys',
  name: 'my-plugin',
  summary: 'Stores private keys in encrypted files.',
  config: Type.Object({
    /** Default: a directory in the data directory with the name of the table. */
    directory: Type.Optional(Type.String({ minLength: 1, pathname: true })),
  }),
  async open({ directory }, { dataDirectory, name, vault }) {
    const place = directory ?? join(dataDirectory, name);
    await mkdir(place, { recursive: true, mode: 0o700 });
    return new Keys(place, vault);
  },
});
