const names: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'TZ',
  'LANG',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  // For modules that connect to their HSM over the network.
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  // Thales Luna.
  'ChrystokiConfigurationPath',
]);

/** Prefixes of variable names: of the dynamic linker, locales, the JavaScript engine, and modules. */
const families = [
  'LD_',
  'LC_',
  'BUN_JSC_',
  'MIMALLOC_',
  'SOFTHSM2_',
  'P11_KIT_',
  'PKCS11_', // pkcs11-proxy and others
  'OPENSC_',
  'NSS_',
  'TPM2_PKCS11_',
  'TSS2_',
  'YUBIHSM_',
  'CKNFAST_', // Entrust nShield
  'NFAST_',
  'CS_PKCS11_', // Utimaco
] as const;

/**
 * Returns the part of the gateway's environment that the process of a PKCS #11 module gets. The rest is withheld
 * because it contains the gateway's passwords. The configuration can add further variables.
 */
export const moduleEnvironment = (
  ours: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(ours).filter(
      ([name]) => names.has(name) || families.some((family) => name.startsWith(family)),
    ),
  );
