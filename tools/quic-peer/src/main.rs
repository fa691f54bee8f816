//! A download over quinn. Times, sizes and counters are printed as lines of JSON.
//!
//! ```text
//! quic-peer certificate DIRECTORY
//! quic-peer server ADDRESS:PORT DIRECTORY [WINDOW]
//! quic-peer client ADDRESS:PORT DIRECTORY SIZE [WINDOW]
//! ```
//!
//! A request has 300 bytes: the size of the response in bytes as decimal digits, and spaces. The server responds to one
//! request on one connection, and exits when the client closes it. `WINDOW` is the credit of streams and connections
//! in bytes, and the limit of unacknowledged data; without it, quinn's defaults apply.

use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::pem::PemObject;
use quinn::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig, VarInt};
use std::error::Error;
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Name in the certificate.
const NAME: &str = "localhost";

/// Length of a request in bytes, the default of lightlag's `requests`.
const REQUEST: usize = 300;

/// Length of a write of the server in bytes.
const CHUNK: usize = 1 << 16;

/// Receive buffer of a socket in bytes, at most `net.core.rmem_max`.
const RECEIVE_BUFFER: usize = 4 << 20;

const USAGE: &str = "certificate DIRECTORY | server ADDRESS:PORT DIRECTORY [WINDOW] | \
    client ADDRESS:PORT DIRECTORY SIZE [WINDOW]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quic-peer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match arguments[..] {
        ["certificate", directory] => certificate(Path::new(directory)),
        ["server", address, directory] => runtime.block_on(server(address.parse()?, Path::new(directory), None)),
        ["server", address, directory, window] => {
            runtime.block_on(server(address.parse()?, Path::new(directory), Some(window.parse()?)))
        }
        ["client", address, directory, size] => {
            runtime.block_on(client(address.parse()?, Path::new(directory), size.parse()?, None))
        }
        ["client", address, directory, size, window] => {
            runtime.block_on(client(address.parse()?, Path::new(directory), size.parse()?, Some(window.parse()?)))
        }
        _ => Err(format!("usage: {USAGE}").into()),
    }
}

/// Writes a self-signed certificate and its key.
fn certificate(directory: &Path) -> Outcome {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
    fs::write(directory.join("certificate.pem"), made.cert.pem())?;
    fs::write(directory.join("key.pem"), made.signing_key.serialize_pem())?;
    println!("{{\"event\": \"certificate\", \"bytes\": {}}}", made.cert.der().len());
    Ok(())
}

/// Returns quinn's parameters, with other credit if `window` is given.
fn transport(window: Option<u32>) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    if let Some(window) = window {
        transport
            .stream_receive_window(VarInt::from_u32(window))
            .receive_window(VarInt::from_u32(window))
            .send_window(u64::from(window));
    }
    Arc::new(transport)
}

async fn server(address: SocketAddr, directory: &Path, window: Option<u32>) -> Outcome {
    let chain = vec![CertificateDer::from_pem_file(directory.join("certificate.pem"))?];
    let key = PrivateKeyDer::from_pem_file(directory.join("key.pem"))?;
    let mut config = ServerConfig::with_single_cert(chain, key)?;
    config.transport_config(transport(window));
    let runtime = Arc::new(TokioRuntime);
    let endpoint = Endpoint::new(EndpointConfig::default(), Some(config), socket(address)?, runtime)?;
    println!("{{\"event\": \"ready\"}}");
    let connection = endpoint.accept().await.ok_or("the endpoint is closed")?.await?;
    let (mut send, mut receive) = connection.accept_bi().await?;
    let request = receive.read_to_end(REQUEST).await?;
    let mut left: usize = std::str::from_utf8(&request)?.trim().parse()?;
    let chunk = vec![0; CHUNK];
    while left > 0 {
        left -= send.write(&chunk[..left.min(CHUNK)]).await?;
    }
    send.finish()?;
    connection.closed().await;
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "real downloads are measured here")]
async fn client(address: SocketAddr, directory: &Path, size: u64, window: Option<u32>) -> Outcome {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(directory.join("certificate.pem"))?)?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(transport(window));
    let socket = socket(SocketAddr::from(([0, 0, 0, 0], 0)))?;
    let mut endpoint = Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime))?;
    endpoint.set_default_client_config(config);
    println!("{{\"event\": \"starts\"}}");
    let start = Instant::now();
    let connection = endpoint.connect(address, NAME)?.await?;
    say("handshake", start);
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(format!("{size:<REQUEST$}").as_bytes()).await?;
    send.finish()?;
    let mut received = 0;
    while let Some(chunk) = receive.read_chunk(usize::MAX, true).await? {
        if received == 0 {
            say("first_byte", start);
        }
        received += chunk.bytes.len() as u64;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{{\"event\": \"done\", \"seconds\": {seconds}, \"bytes\": {received}}}");
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    Ok(())
}

/// Returns a UDP socket with a larger receive buffer than the default of Linux, which holds less than a burst at
/// 100 Mbit/s while the program waits for a processor.
fn socket(address: SocketAddr) -> Outcome<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    socket2::SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER)?;
    Ok(socket)
}

/// Prints the time since `start`.
fn say(event: &str, start: Instant) {
    println!("{{\"event\": \"{event}\", \"seconds\": {}}}", start.elapsed().as_secs_f64());
}
