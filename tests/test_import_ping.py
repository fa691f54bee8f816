"""The output of ping and fping in many languages, code pages and forms becomes a delay over time and a loss."""

# Lines of files are clearer unbroken.
# ruff: noqa: E501

from __future__ import annotations

import gzip
import tomllib
from pathlib import Path
from typing import Any

import pytest

import lightlag as ll
from lightlag.errors import InputError
from lightlag.imports import Options, kind_of, read, to_scenario
from lightlag.imports.found import Found

WINDOWS: dict[str, tuple[str, list[str]]] = {
    "ru": (
        "\r\nОбмен пакетами с 192.0.2.1 по с 32 байтами данных:\r\nОтвет от 192.0.2.1: число байт=32 время=40мс TTL=55\r\nПревышен интервал ожидания для запроса.\r\nОтвет от 192.0.2.1: число байт=32 время<1мс TTL=55\r\n\r\nСтатистика Ping для 192.0.2.1:\r\n    Пакетов: отправлено = 3, получено = 2, потеряно = 1\r\n    (33% потерь)\r\nПриблизительное время приема-передачи в мс:\r\n    Минимальное = 0мсек, Максимальное = 40 мсек, Среднее = 20 мсек\r\n",
        ["cp866", "cp1251", "utf-16", "utf-8"],
    ),
    "ja": (
        "\r\n192.0.2.1 に ping を送信しています 32 バイトのデータ:\r\n192.0.2.1 からの応答: バイト数 =32 時間 =40ms TTL=55\r\n要求がタイムアウトしました。\r\n192.0.2.1 からの応答: バイト数 =32 時間 =41ms TTL=55\r\n\r\n192.0.2.1 の ping 統計:\r\n    パケット数: 送信 = 3、受信 = 2、損失 = 1 (33% の損失)、\r\nラウンド トリップの概算時間 (ミリ秒):\r\n    最小 = 40ms、最大 = 41ms、平均 = 40ms\r\n",
        ["cp932", "utf-16", "utf-8"],
    ),
    "zh": (
        "\r\n正在 Ping 192.0.2.1 具有 32 字节的数据:\r\n来自 192.0.2.1 的回复: 字节=32 时间=40ms TTL=55\r\n请求超时。\r\n来自 192.0.2.1 的回复: 字节=32 时间=41ms TTL=55\r\n\r\n192.0.2.1 的 Ping 统计信息:\r\n    数据包: 已发送 = 3，已接收 = 2，丢失 = 1 (33% 丢失)，\r\n往返行程的估计时间(以毫秒为单位):\r\n    最短 = 40ms，最长 = 41ms，平均 = 40ms\r\n",
        ["cp936", "utf-16", "utf-8"],
    ),
    "ko": (
        "\r\nPing 192.0.2.1 32바이트 데이터 사용:\r\n192.0.2.1의 응답: 바이트=32 시간=40ms TTL=55\r\n요청 시간이 만료되었습니다.\r\n192.0.2.1의 응답: 바이트=32 시간=41ms TTL=55\r\n\r\n192.0.2.1에 대한 Ping 통계:\r\n    패킷: 보냄 = 3, 받음 = 2, 손실 = 1 (33% 손실),\r\n왕복 시간(밀리초):\r\n    최소 = 40ms, 최대 = 41ms, 평균 = 40ms\r\n",
        ["cp949", "utf-16"],
    ),
    "de": (
        "\r\nPing wird ausgeführt für example.com [192.0.2.1] mit 32 Bytes Daten:\r\nAntwort von 192.0.2.1: Bytes=32 Zeit=40ms TTL=55\r\nZeitüberschreitung der Anforderung.\r\nAntwort von 192.0.2.1: Bytes=32 Zeit<1ms TTL=55\r\n\r\nPing-Statistik für 192.0.2.1:\r\n    Pakete: Gesendet = 3, Empfangen = 2, Verloren = 1\r\n    (33% Verlust),\r\nCa. Zeitangaben in Millisek.:\r\n    Minimum = 0ms, Maximum = 40ms, Mittelwert = 20ms\r\n",
        ["cp850", "cp437", "cp1252", "utf-16"],
    ),
    "fr": (
        "\r\nEnvoi d’une requête 'Ping'  192.0.2.1 avec 32 octets de données :\r\nRéponse de 192.0.2.1 : octets=32 temps=40 ms TTL=55\r\nDélai d’attente de la demande dépassé.\r\nRéponse de 192.0.2.1 : octets=32 temps<1 ms TTL=55\r\n\r\nStatistiques Ping pour 192.0.2.1:\r\n    Paquets : envoyés = 3, reçus = 2, perdus = 1 (perte 33%),\r\nDurée approximative des boucles en millisecondes :\r\n    Minimum = 0ms, Maximum = 40ms, Moyenne = 20ms\r\n",
        ["cp1252", "utf-16"],
    ),
    "es": (
        "\r\nHaciendo ping a 192.0.2.1 con 32 bytes de datos:\r\nRespuesta desde 192.0.2.1: bytes=32 tiempo=40ms TTL=55\r\nTiempo de espera agotado para esta solicitud.\r\nRespuesta desde 192.0.2.1: bytes=32 tiempo=41ms TTL=55\r\n\r\nEstadísticas de ping para 192.0.2.1:\r\n    Paquetes: enviados = 3, recibidos = 2, perdidos = 1\r\n    (33% perdidos),\r\nTiempos aproximados de ida y vuelta en milisegundos:\r\n    Mínimo = 40ms, Máximo = 41ms, Media = 40ms\r\n",
        ["cp850", "cp1252"],
    ),
    "it": (
        "\r\nEsecuzione di Ping 192.0.2.1 con 32 byte di dati:\r\nRisposta da 192.0.2.1: byte=32 durata=40ms TTL=55\r\nRichiesta scaduta.\r\nRisposta da 192.0.2.1: byte=32 durata=41ms TTL=55\r\n\r\nStatistiche Ping per 192.0.2.1:\r\n    Pacchetti: Trasmessi = 3, Ricevuti = 2,\r\n    Persi = 1 (33% persi),\r\nTempo approssimativo percorsi andata/ritorno in millisecondi:\r\n    Minimo = 40ms, Massimo =  41ms, Medio =  40ms\r\n",
        ["cp850"],
    ),
    "pt": (
        "\r\nDisparando 192.0.2.1 com 32 bytes de dados:\r\nResposta de 192.0.2.1: bytes=32 tempo=40ms TTL=55\r\nEsgotado o tempo limite do pedido.\r\nResposta de 192.0.2.1: bytes=32 tempo=41ms TTL=55\r\n\r\nEstatísticas do Ping para 192.0.2.1:\r\n    Pacotes: Enviados = 3, Recebidos = 2, Perdidos = 1 (33% de\r\n             perda),\r\nAproximar um número redondo de vezes em milissegundos:\r\n    Mínimo = 40ms, Máximo = 41ms, Média = 40ms\r\n",
        ["cp850"],
    ),
    "pl": (
        "\r\nBadanie 192.0.2.1 z 32 bajtami danych:\r\nOdpowiedź z 192.0.2.1: bajtów=32 czas=40ms TTL=55\r\nUpłynął limit czasu żądania.\r\nOdpowiedź z 192.0.2.1: bajtów=32 czas=41ms TTL=55\r\n\r\nStatystyka badania ping dla 192.0.2.1:\r\n    Pakiety: Wysłane = 3, Odebrane = 2, Utracone = 1\r\n             (33% straty),\r\nSzacunkowy czas błądzenia pakietów w millisekundach:\r\n    Minimum = 40 ms, Maksimum = 41 ms, Czas średni = 40 ms\r\n",
        ["cp852"],
    ),
    "nl": (
        "\r\nPingen naar 192.0.2.1 met 32 bytes aan gegevens:\r\nAntwoord van 192.0.2.1: bytes=32 tijd=40 ms TTL=55\r\nTime-out bij opdracht.\r\nAntwoord van 192.0.2.1: bytes=32 tijd=41 ms TTL=55\r\n\r\nPing-statistieken voor 192.0.2.1:\r\n    Pakketten: verzonden = 3, ontvangen = 2, verloren = 1\r\n    (33% verlies).\r\n\r\nDe gemiddelde tijd voor het uitvoeren van één bewerking in milliseconden:\r\n    Minimum = 40ms, Maximum = 41ms, Gemiddelde = 40ms\r\n",
        ["cp850"],
    ),
    "tr": (
        "\r\n192.0.2.1 için 32 bayt veri ile ping gönderiliyor:\r\n192.0.2.1 yanıtı: bayt=32 süre=40ms TTL=55\r\nİstek zaman aşımına uğradı.\r\n192.0.2.1 yanıtı: bayt=32 süre=41ms TTL=55\r\n\r\n192.0.2.1 için Ping istatistiği:\r\n    Paket: Giden = 3, Gelen = 2, Kaybolan = 1 (33% kayıp),\r\nMilisaniye türünden yaklaşık tur süreleri:\r\n    En Az = 40ms, En Çok = 41ms, Ortalama = 40ms\r\n",
        ["cp857"],
    ),
    "sv": (
        "\r\nSkickar ping-signaler till 192.0.2.1 med 32 byte data:\r\nSvar från 192.0.2.1: byte=32 tid=40ms TTL=55\r\nBegäran gjorde timeout.\r\nSvar från 192.0.2.1: byte=32 tid=41ms TTL=55\r\n\r\nPing-statistik för 192.0.2.1:\r\n    Paket: Skickade = 3, Mottagna = 2, Förlorade = 1 (33 %),\r\nUngefärlig överföringstid i millisekunder:\r\n    Lägsta = 40 ms, Högsta = 41 ms, Medel = 40 ms\r\n",
        ["cp850"],
    ),
    "cs": (
        "\r\nPříkaz PING na 192.0.2.1 - 32 bajtů dat:\r\nOdpověď od 192.0.2.1: bajty=32 čas=40ms TTL=55\r\nVypršel časový limit žádosti.\r\nOdpověď od 192.0.2.1: bajty=32 čas < 1ms TTL=55\r\n\r\nStatistika ping pro 192.0.2.1:\r\n    Pakety: Odeslané = 3, Přijaté = 2, Ztracené = 1 (ztráta 33%),\r\nPřibližná doba do přijetí odezvy v milisekundách:\r\n    Minimum = 40ms, Maximum = 41ms, Průměr = 40ms\r\n",
        ["cp852"],
    ),
}
"""Output of Windows for three probes, the second one lost, and the code pages that may store it."""
UNIX: dict[str, tuple[str, str]] = {
    "iputils6": (
        "PING 2001:db8::1(2001:db8::1) 56 data bytes\n64 bytes from 2001:db8::1: icmp_seq=2 ttl=55 time=40.1 ms\n64 bytes from 2001:db8::1: icmp_seq=3 ttl=55 time=41 ms\n\n--- 2001:db8::1 ping statistics ---\n3 packets transmitted, 2 received, 33.3333% packet loss, time 402ms\nrtt min/avg/max/mdev = 40.1/40.5/41/0.4 ms\n",
        "2 replies to 3",
    ),
    "from": (
        "PING 192.0.2.1 (192.0.2.1) from 10.0.0.2 eth0: 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=55 time=40.1 ms\n",
        "1 replies to 1",
    ),
    "quiet": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n\n--- 192.0.2.1 ping statistics ---\n100 packets transmitted, 90 received, 10% packet loss, time 19839ms\nrtt min/avg/max/mdev = 40.134/41.2/55.3/0.4 ms, pipe 2\n",
        "90 replies to 100",
    ),
    "flood": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n.....\n--- 192.0.2.1 ping statistics ---\n100 packets transmitted, 95 received, 5% packet loss, time 1984ms\nrtt min/avg/max/mdev = 40.134/41.2/55.3/0.4 ms, ipg/ewma 20.0/41.1 ms\n",
        "95 replies to 100",
    ),
    "dup": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=55 time=40.1 ms\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=55 time=45.1 ms (DUP!)\nFrom 10.0.0.1 icmp_seq=2 Destination Host Unreachable\n64 bytes from 192.0.2.1: icmp_seq=3 ttl=55 time=1.5e+03 ms\nno answer yet for icmp_seq=4\n64 bytes from 192.0.2.1: icmp_seq=4 ttl=55 time=1204 ms\n\n--- 192.0.2.1 ping statistics ---\n4 packets transmitted, 3 received, +1 duplicates, +1 errors, 25% packet loss, time 604ms\n",
        "3 replies to 4",
    ),
    "macos6": (
        "PING6(56=40+8+8 bytes) 2001:db8::2 --> 2001:db8::1\n16 bytes from 2001:db8::1, icmp_seq=0 hlim=57 time=40.123 ms\n16 bytes from 2001:db8::1, icmp_seq=1 hlim=57 time=41.123 ms\n\n--- 2001:db8::1 ping6 statistics ---\n3 packets transmitted, 2 packets received, 33.3% packet loss\nround-trip min/avg/max/std-dev = 40.1/41/42/0.4 ms\n",
        "2 replies to 3",
    ),
    "busybox": (
        "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: seq=0 ttl=64 time=40.123 ms\n64 bytes from 192.0.2.1: seq=2 ttl=64 time=41.123 ms\n\n--- 192.0.2.1 ping statistics ---\n3 packets transmitted, 2 packets received, 33% packet loss\nround-trip min/avg/max = 40.123/41/42 ms\n",
        "2 replies to 3",
    ),
    "zh-iputils": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) 字节的数据。\n64 字节，来自 192.0.2.1: icmp_seq=1 ttl=52 时间=40.4 毫秒\n64 字节，来自 192.0.2.1: icmp_seq=3 ttl=52 时间=41.4 毫秒\n\n--- 192.0.2.1 ping 统计 ---\n已发送 3 个包， 已接收 2 个包, 33% packet loss, time 401ms\nrtt min/avg/max/mdev = 40.4/41/41.4/0.2 ms\n",
        "2 replies to 3",
    ),
    "ja-iputils": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) バイトのデータ\n64 バイト応答 送信元 192.0.2.1: icmp_seq=1 ttl=52 時間=40.4ミリ秒\n\n--- 192.0.2.1 ping 統計 ---\n送信パケット数 2, 受信パケット数 1, 50% packet loss, time 200ms\n",
        "1 replies to 2",
    ),
    "hping": (
        "HPING 192.0.2.1 (eth0 192.0.2.1): S set, 40 headers + 0 data bytes\nlen=46 ip=192.0.2.1 ttl=57 id=0 sport=80 flags=SA seq=0 win=29200 rtt=40.3 ms\nlen=46 ip=192.0.2.1 ttl=57 id=0 sport=80 flags=SA seq=2 win=29200 rtt=41.3 ms\n\n--- 192.0.2.1 hping statistic ---\n3 packets transmitted, 2 packets received, 34% packet loss\nround-trip min/avg/max = 40.3/41.0/41.3 ms\n",
        "2 replies to 3",
    ),
    "win6": (
        "\r\nPinging 2001:db8::1 with 32 bytes of data:\r\nReply from 2001:db8::1: time=40ms \r\nReply from 2001:db8::1: time=41ms \r\n\r\nPing statistics for 2001:db8::1:\r\n    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),\r\n",
        "2 replies to 2",
    ),
    "win unreachable": (
        "\r\nPinging 192.0.2.1 with 32 bytes of data:\r\nReply from 192.0.2.1: bytes=32 time=40ms TTL=55\r\nReply from 192.168.0.9: Destination host unreachable.\r\n\r\nPing statistics for 192.0.2.1:\r\n    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),\r\n",
        "1 replies to 2",
    ),
    "macos unreachable": (
        "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: icmp_seq=0 ttl=55 time=40 ms\nRequest timeout for icmp_seq 1\n92 bytes from 10.0.0.1: Destination Host Unreachable\nVr HL TOS  Len   ID Flg  off TTL Pro  cks      Src      Dst\n 4  5  00 5400 1234   0 0000  40  01 1234 10.0.0.2  192.0.2.1 \n\nRequest timeout for icmp_seq 2\n64 bytes from 192.0.2.1: icmp_seq=3 ttl=55 time=40 ms\n--- 192.0.2.1 ping statistics ---\n4 packets transmitted, 2 packets received, 50.0% packet loss\n",
        "2 replies to 4",
    ),
    "comma": (
        "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=55 time=23,4 ms\n\n--- 192.0.2.1 ping statistics ---\n2 packets transmitted, 1 received, 50% packet loss, time 1001ms\nrtt min/avg/max/mdev = 23,4/23,4/23,4/0,000 ms\n",
        "1 replies to 2",
    ),
    "all lost win": (
        "\r\nPinging 192.0.2.1 with 32 bytes of data:\r\nRequest timed out.\r\nRequest timed out.\r\n\r\nPing statistics for 192.0.2.1:\r\n    Packets: Sent = 2, Received = 0, Lost = 2 (100% loss),\r\n",
        "none of 2",
    ),
    "osx unreachable all": (
        "PING 192.0.2.1 (192.0.2.1): 56 data bytes\nping: sendto: No route to host\nping: sendto: No route to host\nRequest timeout for icmp_seq 0\n\n--- 192.0.2.1 ping statistics ---\n3 packets transmitted, 0 packets received, 100.0% packet loss\n",
        "none of 3",
    ),
}


def found(tmp_path: Path, text: str | bytes, **options: Any) -> Found:
    path = tmp_path / "ping.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert kind_of(path) in ("ping", "fping")
    return read(path, options=Options(**options))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        pytest.param(text, encoding, id=f"{name}-{encoding}")
        for name, (text, all_) in WINDOWS.items()
        for encoding in all_
    ],
)
def test_windows_speaks_any_language_in_any_code_page(tmp_path: Path, text: str, encoding: str) -> None:
    once = found(tmp_path, text.encode(encoding, "replace"))
    assert once.title == "2 replies to 3 probes of ping."
    assert [row.time_s for row in once.rows] == [0.0, 2.0]
    assert once.rows[0].delay_s == pytest.approx(0.02)
    twice = found(tmp_path, (text + text).encode(encoding, "replace"))
    assert twice.title == "4 replies to 6 probes of ping."


@pytest.mark.parametrize(("text", "title"), UNIX.values(), ids=UNIX)
def test_every_ping_is_read(tmp_path: Path, text: str, title: str) -> None:
    if title.startswith("none"):
        with pytest.raises(InputError, match=title):
            found(tmp_path, text)
    else:
        assert found(tmp_path, text).title.startswith(title)


def line(number: int, ms: float, stamp: float | None = None) -> str:
    front = "" if stamp is None else f"[{stamp:.6f}] "
    return f"{front}64 bytes from 192.0.2.1: icmp_seq={number} ttl=55 time={ms} ms\n"


HEADER = "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"


@pytest.mark.long
@pytest.mark.parametrize("has_stamps", [True, False])
def test_sequence_numbers_wrap(tmp_path: Path, has_stamps: bool) -> None:
    text = HEADER + "".join(
        line(at % 65_536, 30.0 + at // 65_536 * 20, 1.7e9 + at / 100 if has_stamps else None)
        for at in range(1, 140_001)
        if at % 1000 or at == 140_000
    )
    facts = found(tmp_path, text, interval_s=0.01)
    assert facts.title == "139861 replies to 140000 probes of ping."
    assert facts.loss["forward"].value == pytest.approx(1 - (1 - 139 / 140_000) ** 0.5)
    assert facts.duration_s == pytest.approx(1400, abs=1.1)
    assert facts.rows[-1].delay_s == pytest.approx(0.035)


def test_a_log_that_starts_in_the_middle_has_lost_nothing_before(tmp_path: Path) -> None:
    facts = found(tmp_path, "".join(line(number, 40.0) for number in range(5000, 5020)))
    assert facts.title == "20 replies to 20 probes of ping."
    assert facts.duration_s == 20


def test_the_first_and_the_last_probes_may_be_lost(tmp_path: Path) -> None:
    summary = "\n--- 192.0.2.1 ping statistics ---\n10 packets transmitted, 6 received, 40% packet loss, time 1802ms\n"
    facts = found(tmp_path, HEADER + "".join(line(number, 40.0) for number in range(3, 9)) + summary)
    assert facts.title == "6 replies to 10 probes of ping."
    assert facts.rows[0].time_s == pytest.approx(0.4), "the summary contains the interval, ping -i 0.2"


def test_pings_of_several_hosts_are_rejected(tmp_path: Path) -> None:
    text = HEADER + line(1, 40) + HEADER.replace("192.0.2.1", "192.0.2.9") + line(1, 50)
    with pytest.raises(InputError, match=r"pings of 2 hosts, 192\.0\.2\.1 and 192\.0\.2\.9"):
        found(tmp_path, text)


def test_an_imported_ping_runs_at_its_delay_and_loss(tmp_path: Path) -> None:
    text = HEADER + "".join(line(number, 600.0) for number in range(1, 1001) if number % 5)
    path = tmp_path / "ping.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    page = to_scenario(path, options=Options(rate="10 Mbit/s"))
    for name, content in {"ping.toml": page.text, **page.files}.items():
        (tmp_path / name).write_text(content)
    scenario = tomllib.loads(page.text)
    flow = {"from": "client", "to": "server", "transport": "udp", "traffic": {"kind": "constant", "rate": "1 Mbit/s"}}
    scenario["flows"] = [flow]
    scenario["links"][0]["trace"] = str(tmp_path / scenario["links"][0]["trace"])
    result = ll.run(scenario, duration="300 s")
    # One probe in five had no answer: each direction loses 1 - sqrt(0.8).
    assert 1 - result.flows["goodput_bps"][0] / 1e6 == pytest.approx(1 - 0.8**0.5, abs=0.01)


FPING = {
    "-l -D": "[1700000000.12345] 192.0.2.1 : [0], 64 bytes, 40.1 ms (40.1 avg, 0% loss)\n[1700000002.12345] 192.0.2.1 : [2], 64 bytes, 42.1 ms (41.1 avg, 33% loss)\n",
    "timed out": "192.0.2.1 : [0], 96 bytes, 40.1 ms (40.1 avg, 0% loss)\n192.0.2.1 : [1], timed out (40.1 avg, 50% loss)\n192.0.2.1 : [2], 96 bytes, 42.1 ms (41.1 avg, 33% loss)\n\n192.0.2.1 : xmt/rcv/%loss = 3/2/33%, min/avg/max = 40.1/41.1/42.1\n",
    "-C": "192.0.2.1 : 40.1 - 42.1\n",
    "-c -q": "192.0.2.1 : xmt/rcv/%loss = 3/2/33%, min/avg/max = 40.1/41.1/42.1\n",
    "cut at the front": "".join(
        f"192.0.2.1 : [{number}], 64 bytes, 40.1 ms (40.1 avg, 0% loss)\n" for number in (70, 72)
    ),
}


@pytest.mark.parametrize("text", FPING.values(), ids=FPING)
def test_fping_is_read(tmp_path: Path, text: str) -> None:
    facts = found(tmp_path, text)
    assert facts.title == "2 replies to 3 probes of fping."
    assert facts.delay is not None
    assert facts.delay.value == pytest.approx(0.02005)
    assert facts.loss["backward"].value == pytest.approx(1 - (2 / 3) ** 0.5)


def test_fping_of_several_hosts_or_without_replies_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="probes of 2 hosts, a and b"):
        found(tmp_path, "a : 1.0 2.0\nb : 1.0 2.0\n")
    with pytest.raises(InputError, match="none of 2 probes received a reply"):
        found(
            tmp_path,
            "192.0.2.1 : [0], timed out (NaN avg, 100% loss)\n192.0.2.1 : [1], timed out (NaN avg, 100% loss)\n",
        )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "fping",
            "[1700000000.1] 192.0.2.1 : [0], 64 bytes, 40.1 ms (40.1 avg, 0% loss)\n"
            "[17000000002.1] 192.0.2.1 : [2], 64 bytes, 42.1 ms (41.1 avg, 33% loss)\n",
        ),
        (
            "ping",
            "[1700000000.1] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=60 time=40 ms\n"
            "[17000000002.1] 64 bytes from 192.0.2.1: icmp_seq=2 ttl=60 time=40 ms\n",
        ),
        (
            "irtt",
            '{"round_trips": [{"delay": {"rtt": 30000000}, "timestamps": {"client": {"send": {"wall": 1}}}},'
            '{"delay": {"rtt": 30000000}, "timestamps": {"client": {"send": {"wall": 17000000000000000000}}}}]}',
        ),
    ],
)
def test_probes_over_more_than_480_hours_are_rejected_with_their_file(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / f"{name}.txt"
    path.write_text(text)
    assert kind_of(path) == name
    with pytest.raises(InputError, match=rf"^{path}: the last probe was sent .* above 480 h; cut the file$"):
        to_scenario(path, options=Options(rate="10 Mbit/s"))


def test_a_round_trip_that_is_too_long_for_a_scenario_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "fping.txt"
    path.write_text("192.0.2.1 : [0], 64 bytes, 4e12 ms (1 avg, 0% loss)\n")
    with pytest.raises(InputError, match=r"the round trip: 4e\+09 s is above 480 h; remove it, or correct its unit"):
        to_scenario(path, options=Options(rate="10 Mbit/s"))


def test_a_long_line_of_dashes_or_digits_is_read_quickly(tmp_path: Path) -> None:
    # One such line once took seconds, with a time that grows with the cube of its length.
    path = tmp_path / "ping.txt"
    answer = "64 bytes from 192.0.2.1: icmp_seq=1 ttl=60 time=40 ms\n"
    rest = ("-" * 990 + "x\n") * 200 + "--- 192.0.2.1 ping statistics ---\n" + ("[1] " + "1" * 990 + "\n") * 2000
    path.write_text(f"PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n{answer}{rest}")
    assert read(path).title == "1 replies to 1 probes of ping."
