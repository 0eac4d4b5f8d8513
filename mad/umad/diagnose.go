// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Level is the severity of a finding.
type Level string

// Levels of findings.
const (
	Fine  Level = "ok"    // as it should be
	Note  Level = "note"  // informational
	Fault Level = "fault" // prevents use of a port
)

// Finding is a result of [Diagnose].
type Finding struct {
	Level Level
	// Port is the source name of the port, such as "umad:mlx5_0:1". It is "" for findings about the whole machine.
	Port string
	// Text describes a state or a fault. Remedy describes how to fix the fault.
	Text   string
	Remedy string
}

// Diagnose checks the InfiniBand hardware and drivers of this machine, then each port, and suggests remedies. For each
// port it opens the device, registers and releases agents, and reads the port's own NodeInfo. It also sends a request
// to an unused address, to check that the kernel returns the request. Diagnose writes nothing. It takes some tenths of
// a second for each active port.
//
// Texts contain names from the kernel that are not escaped.
func Diagnose(ctx context.Context, root string, h *HeldDevices) []Finding {
	d := diagnosis{root: root, held: h, probe: probe}
	d.run(ctx)
	return d.findings
}

type diagnosis struct {
	root     string
	held     *HeldDevices
	probe    func(ctx context.Context, root string, p Port, h *HeldDevices) (probeResult, error)
	findings []Finding
}

func (d *diagnosis) report(l Level, port, remedy, format string, args ...any) {
	d.findings = append(d.findings, Finding{Level: l, Port: port, Text: fmt.Sprintf(format, args...), Remedy: remedy})
}

func (d *diagnosis) run(ctx context.Context) {
	ports, err := Ports(d.root)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			d.report(Note, "", "", "sysfs: %s", strings.TrimSuffix(line, "\n"))
		}
	}
	if len(ports) == 0 {
		d.noAdapter()
	}
	usable := d.module(len(ports) > 0)
	for _, p := range ports {
		d.port(ctx, p, usable)
	}
	if len(ports) > 0 {
		d.choice(ports)
	}
}

// noAdapter reports why the machine has no adapter.
func (d *diagnosis) noAdapter() {
	cards := pciCards(d.root)
	_, err := os.Stat(filepath.Join(d.root, classInfiniband))
	loaded := err == nil
	for _, c := range cards {
		d.report(Fault, "", "as root: modprobe "+c.driver, "PCI %s (%s) is an adapter whose driver is not loaded or "+
			"refuses it", c.slot, c.id)
	}
	switch {
	case !loaded:
		d.report(Fault, "", "as root: modprobe mlx5_ib (ConnectX-4 and later; mlx4_ib for those before), then "+
			"modprobe "+
			"ib_umad; "+
			"Debian's rdma-core does both when the machine starts",
			"no RDMA module is loaded: there is no %s", classInfiniband)
	case len(cards) == 0:
		d.report(Fault, "", "install an adapter; in a virtual machine or container, pass one through",
			"the RDMA modules are loaded, but there is no adapter")
	default:
		d.report(Note, "", "read the messages of its driver: dmesg | grep -i mlx",
			"the RDMA modules are loaded, but no adapter is registered with them")
	}
}

// module reports whether ib_umad is loaded in the version that this package supports.
func (d *diagnosis) module(ports bool) bool {
	err := checkABI(d.root)
	switch {
	case err == nil:
		d.report(Fine, "", "", "the module ib_umad is loaded, interface version %d", ABIVersion)
		return true
	case errors.Is(err, ErrNoModule) && !ports:
		return false // noAdapter has reported it
	case errors.Is(err, ErrNoModule):
		d.report(Fault, "", "as root: modprobe ib_umad; for every start: echo ib_umad "+
			">/etc/modules-load.d/ib_umad.conf",
			"the module ib_umad is not loaded: there is no %s", classMAD)
	case errors.Is(err, ErrABI):
		d.report(Fault, "", "use a kernel whose ib_umad has that version (all since 2.6.13)", "%v", err)
	default:
		d.report(Fault, "", "", "%v", err)
	}
	return false
}

// choice reports the port that the source "umad" selects.
func (d *diagnosis) choice(ports []Port) {
	p, err := Selector{Port: AnyPort}.Choose(ports)
	if err != nil {
		d.report(Note, "", "", "source umad: %v", err)
		return
	}
	d.report(Fine, "", "", "source umad selects %s", p.Source())
}

// device reports whether this process may open the devices of a port.
func (d *diagnosis) device(p Port) bool {
	for _, name := range p.devices() {
		if !d.oneDevice(p, name) {
			return false
		}
	}
	return true
}

func (d *diagnosis) oneDevice(p Port, name string) bool {
	if name == "" {
		d.report(Fault, p.Source(), "load ib_umad again: modprobe -r ib_umad; modprobe ib_umad",
			"the kernel offers no umad device for this port")
		return false
	}
	err := mayOpen(devicePath(d.root, name), d.held)
	switch {
	case err == nil:
		return true
	case errors.Is(err, fs.ErrNotExist):
		d.report(Fault, p.Source(), "udev makes it: udevadm trigger; a container must be given it: "+
			"--device=/dev/infiniband/"+name,
			"there is no device node %s/%s, though the kernel has the device", devices, name)
	case errors.Is(err, fs.ErrPermission):
		d.report(Fault, p.Source(), "run as root, or give your group the device in a udev rule: "+
			`KERNEL=="umad*", GROUP="rdma", MODE="0660"`, "this user may not open %s/%s", devices, name)
	default:
		d.report(Fault, p.Source(), "", "%v", err)
	}
	return false
}

// card is a PCI device that may be an adapter.
type card struct{ slot, id, driver string }

// PCI vendors of adapters (pci.ids).
const (
	vendorMellanox = 0x15b3
	vendorIntel    = 0x8086

	// Device classes: the upper 16 of 24 bits.
	classNetworkEthernet   = 0x0200
	classNetworkInfiniBand = 0x0207
	classNetworkFabric     = 0x0208
	classSerialInfiniBand  = 0x0c06

	// The range of PCI device IDs of the driver mlx5. It begins with Connect-IB and ends before the older devices
	// (mlx5/core/main.c, mlx4/main.c).
	firstMLX5, behindMLX5 = 0x1011, 0x6000
)

// pciCards lists the PCI devices that are InfiniBand adapters, with or without a driver.
func pciCards(root string) []card {
	dir := filepath.Join(root, pciDevices)
	slots, _ := entries(dir) // there are none without PCI
	var cards []card
	for _, slot := range slots {
		a := attributes{dir: filepath.Join(dir, slot)}
		vendor, device := value(&a, "vendor", parseMask), value(&a, "device", parseMask)
		if driver := driverOf(vendor, device, value(&a, "class", parseMask)>>8); driver != "" {
			cards = append(cards, card{
				strings.TrimPrefix(slot, "0000:"), fmt.Sprintf("%04x:%04x", vendor, device), driver,
			})
		}
	}
	return cards
}

// driverOf returns the kernel module that drives an adapter, "" for devices that are not adapters.
func driverOf(vendor, device, class uint32) string {
	switch class {
	case classNetworkEthernet, classNetworkInfiniBand, classSerialInfiniBand:
		switch {
		case vendor != vendorMellanox:
			return ""
		case device >= firstMLX5 && device < behindMLX5:
			return "mlx5_ib"
		}
		return "mlx4_ib"
	case classNetworkFabric:
		if vendor == vendorIntel {
			return "hfi1"
		}
	}
	return ""
}
