# SPDX-License-Identifier: GPL-2.0-or-later
"""PCI configuration space, as the guest's lspci decodes it.

Every line has to be what shared/hardware/real-cards.md 1.2 says of the real
cards, with "*" for addresses and for what the guest's kernel decides.  A
second and a third card stand in slots that are slower and narrower, and the
interrupt line has to work.
"""

import re

import guestlib
from zdlib import vm

SIZE = "512M"
# QEMU properties of the slot, and what the card's link has to be in it
SLOTS = (
    ({"x_speed": 16, "x_width": 32}, "Speed 5GT/s, Width x8"),
    ({"x_speed": "2_5", "x_width": 4},
     "Speed 2.5GT/s (downgraded), Width x4 (downgraded)"),
    ({"x_speed": 5, "x_width": 1}, "Speed 5GT/s, Width x1 (downgraded)"),
)

CARD = """\
SCSI storage controller [0100]: OCZ Technology Group, Inc. * [1b85:1084] \
(rev 02)
	Subsystem: OCZ Technology Group, Inc. * [1b85:1084]
	Control: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- \
Stepping- SERR+ FastB2B- DisINTx-
	Status: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- \
<TAbort- <MAbort- >SERR- <PERR- INTx-
	Latency: 0
	Interrupt: pin A routed to IRQ *
	Region 0: Memory at * (64-bit, non-prefetchable) [size=128K]
	Region 2: Memory at * (64-bit, non-prefetchable) [size=256K]
	Expansion ROM at * [disabled] [size=64K]
	Capabilities: [40] Power Management version 3
		Flags: PMEClk- DSI- D1+ D2- AuxCurrent=375mA \
PME(D0+,D1+,D2-,D3hot+,D3cold-)
		Status: D0 NoSoftRst- PME-Enable- DSel=0 DScale=0 PME-
	Capabilities: [50] MSI: Enable- Count=1/1 Maskable- 64bit+
		Address: 0000000000000000  Data: 0000
	Capabilities: [70] Express (v2) Endpoint, MSI 00
		DevCap:	MaxPayload 4096 bytes, PhantFunc 0, Latency L0s <1us, L1 <8us
			ExtTag+ AttnBtn- AttnInd- PwrInd- RBE+ FLReset- SlotPowerLimit *W
		DevCtl:	CorrErr* NonFatalErr* FatalErr* UnsupReq*
			RlxdOrd* ExtTag* PhantFunc- AuxPwr- NoSnoop*
			MaxPayload 128 bytes, MaxReadReq 512 bytes
		DevSta:	CorrErr- NonFatalErr- FatalErr- UnsupReq- AuxPwr- TransPend-
		LnkCap:	Port #0, Speed 5GT/s, Width x8, ASPM L0s L1, \
Exit Latency L0s <512ns, L1 <64us
			ClockPM- Surprise- LLActRep- BwNot- ASPMOptComp-
		LnkCtl:	ASPM Disabled; RCB 64 bytes, Disabled- CommClk*
			ExtSynch- ClockPM- AutWidDis- BWInt- AutBWInt-
		LnkSta:	Speed 5GT/s, Width x8
			TrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-
		DevCap2: Completion Timeout: Not Supported, TimeoutDis+ NROPrPrP- LTR-
			 10BitTagComp- 10BitTagReq- OBFF Not Supported, ExtFmt- EETLPPrefix-
			 EmergencyPowerReduction Not Supported, EmergencyPowerReductionInit-
			 FRS- TPHComp- ExtTPHComp-
			 AtomicOpsCap: 32bit- 64bit- 128bitCAS-
		DevCtl2: Completion Timeout: 50us to 50ms, TimeoutDis- LTR- \
10BitTagReq- OBFF Disabled,
			 AtomicOpsCtl: ReqEn-
		LnkCtl2: Target Link Speed: 5GT/s, EnterCompliance- SpeedDis-
			 Transmit Margin: Normal Operating Range, \
EnterModifiedCompliance- ComplianceSOS-
			 Compliance Preset/De-emphasis: -6dB de-emphasis, 0dB preshoot
		LnkSta2: Current De-emphasis Level: -6dB, EqualizationComplete- \
EqualizationPhase1-
			 EqualizationPhase2- EqualizationPhase3- \
LinkEqualizationRequest-
			 Retimer- 2Retimers- CrosslinkRes: unsupported
	Capabilities: [100 v1] Advanced Error Reporting
		UESta:	DLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- \
MalfTLP- ECRC- UnsupReq- ACSViol-
		UEMsk:	DLP- SDES- TLP- FCP- CmpltTO- CmpltAbrt- UnxCmplt- RxOF- \
MalfTLP- ECRC- UnsupReq- ACSViol-
		UESvrt:	DLP+ SDES+ TLP- FCP+ CmpltTO- CmpltAbrt- UnxCmplt- RxOF+ \
MalfTLP+ ECRC- UnsupReq- ACSViol-
		CESta:	RxErr- BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr-
		CEMsk:	RxErr- BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr+
		AERCap:	First Error Pointer: 00, ECRCGenCap+ ECRCGenEn- \
ECRCChkCap+ ECRCChkEn-
			MultHdrRecCap- MultHdrRecEn- TLPPfxPres- HdrLogCap-
		HeaderLog: 00000000 00000000 00000000 00000000
	Capabilities: [140 v1] Virtual Channel
		Caps:	LPEVC=0 RefClk=100ns PATEntryBits=1
		Arb:	Fixed- WRR32- WRR64- WRR128-
		Ctrl:	ArbSelect=Fixed
		Status:	InProgress-
		VC0:	Caps:	PATOffset=00 MaxTimeSlots=1 RejSnoopTrans-
			Arb:	Fixed- WRR32- WRR64- WRR128- TWRR128- WRR256-
			Ctrl:	Enable+ ID=0 ArbSelect=Fixed TC/VC=ff
			Status:	NegoPending- InProgress-
	Kernel driver in use: mvsas
	Kernel modules: mvsas
"""
# Says something of the slot and not of the card.
SLOT_LINE = "\tPhysical Slot:"


def matches(pattern, line):
    """Whether @line is @pattern, where a * stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), line)


def check_lines(report, text):
    """Compare lspci's description of a card with CARD, line by line."""
    found = [line for line in text.strip().splitlines()
             if not line.startswith(SLOT_LINE)]
    wanted = CARD.splitlines()
    found[0] = found[0].split(maxsplit=1)[1]
    report.ok("lspci shows as many lines as for the real card",
              len(found) == len(wanted), text)
    for line, pattern in zip(found, wanted):
        report.ok(f"lspci: {pattern.strip()}", matches(pattern, line),
                  f"it is: {line}")


def interrupts(machine):
    """How often each interrupt line of mvsas has come so far."""
    return [(line.split()[-2], sum(map(int, line.split()[1:3])))
            for line in machine.run("cat /proc/interrupts").splitlines()
            if line.endswith("mvsas")]


def body(report):
    """One boot with a card in each slot."""
    devices = []
    for number, (slot, _) in enumerate(SLOTS):
        devices += vm.root_port(f"rp{number}", number + 1, **slot)
        devices += vm.card(f"zd{number}", f"rp{number}", model="cm88",
                           size=SIZE)
    with guestlib.guest(report, devices) as machine:
        cards = machine.run("lspci -d 1b85: -n").splitlines()
        report.ok("all cards are there", len(cards) == len(SLOTS), *cards)
        addresses = [card.split()[0] for card in cards]
        check_lines(report, machine.run(f"lspci -vv -nn -k -s {addresses[0]}"))
        for address, (_, link) in zip(addresses, SLOTS):
            shown = machine.run(f"lspci -vv -s {address}")
            report.ok(f"link {link}", f"LnkSta:\t{link}\n" in shown, shown)

        before = interrupts(machine)
        for name in guestlib.names(machine):
            machine.run(f"dd if=/dev/{name} of=/dev/null bs=4k count=8 "
                        "iflag=direct")
        after = interrupts(machine)
        report.ok("every card has its interrupt line", len(before)
                  == len(SLOTS), *before)
        for (kind, earlier), (_, later) in zip(before, after):
            report.ok("INTx is in use", "fasteoi" in kind, kind)
            report.ok("it comes when SSDs are read", later > earlier,
                      f"{earlier} before, {later} after")


guestlib.run(body)
