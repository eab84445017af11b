import java.io.FileInputStream;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.io.Writer;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Security;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.est.ESTAuth;
import org.bouncycastle.est.ESTException;
import org.bouncycastle.est.ESTService;
import org.bouncycastle.est.EnrollmentResponse;
import org.bouncycastle.est.jcajce.ChannelBindingProvider;
import org.bouncycastle.est.jcajce.JcaHttpAuthBuilder;
import org.bouncycastle.est.jcajce.JcaJceUtils;
import org.bouncycastle.est.jcajce.JsseESTServiceBuilder;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.jsse.BCSSLSocket;
import org.bouncycastle.jsse.provider.BouncyCastleJsseProvider;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.pkcs.PKCS10CertificationRequestBuilder;
import org.bouncycastle.pkcs.jcajce.JcaPKCS10CertificationRequestBuilder;

/**
 * EST with Bouncy Castle's client. Options are `name=value`; the first argument is the operation:
 * cacerts, csrattrs, simpleenroll, simplereenroll. Prints PEM, or `none`, `pending SECONDS`, `refused STATUS`.
 */
public class EstClient {
  static final java.util.Map<String, String> options = new java.util.HashMap<>();

  public static void main(String[] arguments) throws Exception {
    Security.addProvider(new BouncyCastleProvider());
    Security.addProvider(new BouncyCastleJsseProvider());
    for (String argument : arguments) {
      int at = argument.indexOf('=');
      if (at > 0) options.put(argument.substring(0, at), argument.substring(at + 1));
    }
    try {
      System.out.println(perform(arguments[0]));
    } catch (ESTException refused) {
      if (refused.getStatusCode() == 0) throw refused;
      System.out.println("refused " + refused.getStatusCode());
    }
  }

  static String perform(String operation) throws Exception {
    ESTService service = service();
    switch (operation) {
      case "cacerts":
        StringWriter out = new StringWriter();
        for (X509CertificateHolder certificate : ESTService.storeToArray(service.getCACerts().getCertificateStore())) {
          out.append(pem(certificate));
        }
        return out.toString();
      case "csrattrs":
        return service.getCSRAttributes().hasAttributesResponse()
            ? service.getCSRAttributes().getAttributesResponse().getRequirements().toString()
            : "none";
      default:
        return enroll(service, operation.equals("simplereenroll"));
    }
  }

  /** `tls`: the version; `cert` and `key`: a client certificate. */
  static ESTService service() throws Exception {
    Set<TrustAnchor> anchors = Set.of(new TrustAnchor(certificate(options.get("root")), null));
    var builder =
        new JsseESTServiceBuilder(options.get("server"), JcaJceUtils.getCertPathTrustManager(anchors, null));
    builder.withProvider("BCJSSE").withTLSVersion(options.getOrDefault("tls", "TLSv1.3")).withTimeout(30_000);
    if (options.containsKey("label")) builder.withLabel(options.get("label"));
    if (options.containsKey("cert")) builder.withKeyManagers(keyManagers());
    builder.withChannelBindingProvider(
        new ChannelBindingProvider() {
          public boolean canAccessChannelBinding(Socket socket) {
            return socket instanceof BCSSLSocket;
          }

          public byte[] getChannelBinding(Socket socket, String binding) {
            return ((BCSSLSocket) socket).getConnection().getChannelBinding(options.getOrDefault("binding", binding));
          }
        });
    return builder.build();
  }

  /** `subject`; `user` and `password`; `newkey`: where the key goes; `binding`: put the channel into the request. */
  static String enroll(ESTService service, boolean again) throws Exception {
    KeyPair pair;
    if (options.containsKey("newkey")) {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      pair = generator.generateKeyPair();
      Files.writeString(Path.of(options.get("newkey")), pem(new JcaPKCS8Generator(pair.getPrivate(), null)));
    } else {
      pair = new KeyPair(certificate(options.get("cert")).getPublicKey(), key(options.get("key")));
    }
    ContentSigner signer = new JcaContentSignerBuilder("SHA256withECDSA").build(pair.getPrivate());
    PKCS10CertificationRequestBuilder request =
        new JcaPKCS10CertificationRequestBuilder(new X500Principal(options.get("subject")), pair.getPublic());
    ESTAuth auth =
        options.containsKey("user")
            ? new JcaHttpAuthBuilder("postern", options.get("user"), options.get("password").toCharArray()).build()
            : null;
    EnrollmentResponse response =
        options.containsKey("binding")
            ? service.simpleEnrollPoP(again, request, signer, auth)
            : service.simpleEnroll(again, request.build(signer), auth);
    if (!response.isCompleted()) {
      return "pending " + Math.round((response.getNotBefore() - System.currentTimeMillis()) / 1000.0);
    }
    return pem(ESTService.storeToArray(response.getStore())[0]);
  }

  static KeyManager[] keyManagers() throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    Certificate[] chain = {certificate(options.get("cert"))};
    store.setKeyEntry("client", key(options.get("key")), new char[0], chain);
    KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX", "BCJSSE");
    factory.init(store, new char[0]);
    return factory.getKeyManagers();
  }

  static X509Certificate certificate(String file) throws Exception {
    try (FileInputStream in = new FileInputStream(file)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }

  static PrivateKey key(String file) throws Exception {
    try (Reader in = Files.newBufferedReader(Path.of(file)); PEMParser parser = new PEMParser(in)) {
      return new JcaPEMKeyConverter().getPrivateKey((PrivateKeyInfo) parser.readObject());
    }
  }

  static String pem(Object object) throws IOException {
    Writer text = new StringWriter();
    try (JcaPEMWriter writer = new JcaPEMWriter(text)) {
      writer.writeObject(object);
    }
    return text.toString();
  }
}
