// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// text returns findings, one on each line.
func text(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s|%s|%s|%s\n", f.Level, f.Port, f.Text, f.Remedy)
	}
	return b.String()
}

// diagnose returns the findings on a machine whose ports yield s, or cannot be opened because of err.
func diagnose(m machine, s probeResult, err error) string {
	d := diagnosis{root: m.root, probe: func(context.Context, string, Port, *HeldDevices) (probeResult, error) {
		return s, err
	}}
	d.run(context.Background())
	return text(d.findings)
}

// unchanged changes nothing.
func unchanged(*Port) {}

// TestFindings changes one thing of a good machine and expects a finding that contains the given text.
func TestFindings(t *testing.T) {
	fine := probeResult{after: 220 * time.Millisecond}
	refused := func(errno unix.Errno) error { return fmt.Errorf("register: %w: %w", ErrRefused, errno) }
	for name, c := range map[string]struct {
		port func(*Port)
		tree func(machine)
		seen probeResult
		err  error
		want []string
	}{
		"all is well": {port: unchanged, seen: fine, want: []string{
			"ok||the module ib_umad is loaded, interface version 5|",
			"ok|umad:mlx5_0:1|InfiniBand, 100 Gb/sec (4X EDR), port GUID 0xe41d2d0300abcdef; mlx5_0 is a MT4115 with " +
				"firmware 12.28.2006|",
			"ok|umad:mlx5_0:1|the port is active, LID 26, subnet manager at LID 1|",
			"ok|umad:mlx5_0:1|an agent for subnet management was registered, the port answered it, and it was " +
				"released|",
			"came back with the kernel's time-out (connection timed out) after 220 ms",
			"ok||source umad selects umad:mlx5_0:1|",
		}},
		"no ib_umad": {port: unchanged, tree: func(m machine) {
			m.remove(t, "sys/class/infiniband_mad")
		}, want: []string{
			"fault||the module ib_umad is not loaded", "modprobe ib_umad",
		}},
		"old ABI": {port: unchanged, tree: func(m machine) {
			m.write(t, "sys/class/infiniband_mad/abi_version", "4\n")
		}, want: []string{
			"fault||unknown version of the umad interface", `contains "4", expected 5`,
		}},
		"no umad device": {port: func(p *Port) {
			p.Umad = ""
		}, want: []string{"fault|umad:mlx5_0:1|the kernel offers no umad device", "modprobe -r ib_umad"}},
		"no device node": {port: unchanged, tree: func(m machine) { m.remove(t, "dev/infiniband") }, want: []string{
			"fault|umad:mlx5_0:1|there is no device node /dev/infiniband/umad0", "udevadm trigger",
			"--device=/dev/infiniband/umad0",
		}},
		"opening forbidden": {
			port: unchanged, err: unix.EPERM, want: []string{
				"fault|umad:mlx5_0:1|operation not permitted|a container must be given the device",
			},
		},
		"adapter just gone": {
			port: unchanged, err: unix.ENXIO, want: []string{
				"fault|umad:mlx5_0:1|no such device or address|the adapter was just removed",
			},
		},
		"every agent refused": {
			port: unchanged, err: refused(unix.EACCES), want: []string{
				"fault|umad:mlx5_0:1|register: refused: permission denied|a security module", "manage_subnet",
			},
		},
		"Ethernet": {port: func(p *Port) {
			p.LinkLayer = Ethernet
		}, seen: probeResult{smi: refused(unix.EPROTONOSUPPORT), after: time.Second}, want: []string{
			"note|umad:mlx5_0:1|the link layer is Ethernet (RoCE): there is no SMI, so no subnet management packets " +
				"and no subnet manager, and no way to read a subnet",
			"use another port", "LINK_TYPE_P1=1", "refused: protocol not supported",
			"source umad: no InfiniBand port is usable",
		}},
		"RNIC": {port: func(p *Port) {
			p.NodeType = 4
		}, want: []string{"note|umad:mlx5_0:1|not an InfiniBand device"}},
		"polling": {port: func(p *Port) {
			p.State, p.Phys = mad.PortDown, mad.PhysPolling
		}, want: []string{
			"fault|umad:mlx5_0:1|the port is down: its state is Down, physically Polling|check the cable",
			"nothing was sent, as the port is not active",
		}},
		"disabled": {port: func(p *Port) {
			p.State, p.Phys = mad.PortDown, mad.PhysDisabled
		}, want: []string{
			"fault|umad:mlx5_0:1|the port is down: its state is Down, physically Disabled|enable it: ibportstate -C " +
				"mlx5_0 -P 1 -D 0 1 enable",
		}},
		"initialising": {port: func(p *Port) { p.State, p.LID, p.SMLID = mad.PortInit, 0, 0 }, want: []string{
			"note|umad:mlx5_0:1|the link is up, but no subnet manager has configured the port: its state is Initialize",
			"note|umad:mlx5_0:1|no subnet manager is known to this port (sm_lid 0)|start a subnet manager (opensm)",
			"source umad selects umad:mlx5_0:1",
		}},
		"armed": {port: func(p *Port) {
			p.State = mad.PortArmed
		}, want: []string{"note|umad:mlx5_0:1|the port is armed"}},
		"no SM": {port: func(p *Port) {
			p.SMLID = 0
		}, want: []string{"no subnet manager is known to this port (sm_lid 0)|start a subnet manager"}},
		"SMI refused": {
			port: unchanged, seen: probeResult{smi: refused(unix.EBUSY)},
			want: []string{
				"fault|umad:mlx5_0:1|no subnet management packets can be sent: register: refused: device or resource " +
					"busy|another program has the class",
			},
		},
		"no agent at all": {
			port: unchanged, seen: probeResult{smi: refused(unix.ENOTTY)},
			want: []string{"fault|umad:mlx5_0:1|no subnet",
				"check that the file is a device"},
		},
		"GSI refused": {
			port: unchanged, seen: probeResult{gsi: refused(unix.ENOMEM)},
			want: []string{"note|umad:mlx5_0:1|no general management packets can be sent", "out of memory"},
		},
		"no response from itself": {
			port: unchanged, seen: probeResult{
				self: unix.ETIMEDOUT,
			}, want: []string{
				"fault|umad:mlx5_0:1|the port does not answer its own subnet management packets: connection timed out",
			},
		},
		"somebody answered": {
			port: unchanged, seen: probeResult{answered: true}, want: []string{"a request was answered"},
		},
		"nothing came back": {
			port: unchanged, seen: probeResult{unused: errors.New("silence")},
			want: []string{"a request to an unused address did not come back: silence"},
		},
		"limited member": {port: func(p *Port) { p.PKeys = []uint16{0x7fff, 0x8001} }, want: []string{
			"note|umad:mlx5_0:1|the P_Key table has no default key of a full member (0xffff)", "partitions.conf",
		}},
		"virtual function": {port: func(p *Port) {
			p.Virtual = true
		}, want: []string{"note|umad:mlx5_0:1|this is a virtual function", "physical function"}},
		"no issm": {port: func(p *Port) { p.ISSM = "" }, want: []string{"the kernel offers no issm device"}},
		"a local SM": {port: func(p *Port) { p.CapMask |= mad.CapIsSM }, tree: func(m machine) {
			m.write(t, "proc/4711/comm", "opensm\n")
			m.write(t, "proc/4711/fd/3", "")
			link(t, "/dev/infiniband/issm0", filepath.Join(m.root, "proc/4711/fd/4"))
		}, want: []string{
			"note|umad:mlx5_0:1|a subnet manager runs on this port: issm0 is taken by opensm (process 4711)|",
		}},
		"somebody's SM": {port: func(p *Port) {
			p.CapMask |= mad.CapIsSM
		}, want: []string{"issm0 is taken by a process that this user cannot see"}},
		"damaged sysfs": {port: unchanged, tree: func(m machine) {
			m.write(t, "sys/class/infiniband/mlx5_0/ports/1/lid", "\x1b[2J")
		}, want: []string{"note||sysfs: ", "expected 0x and a hexadecimal number of 16 bits"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := good()
			c.port(&p)
			m := machine{}.add(t, p)
			if c.tree != nil {
				c.tree(m)
			}
			got := diagnose(m, c.seen, c.err)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q is not in\n%s", w, got)
				}
			}
			faults := strings.Count(got, "fault|")
			if wanted := strings.Count(strings.Join(c.want, "\n"), "fault|"); faults != wanted {
				t.Errorf("%d faults, want %d:\n%s", faults, wanted, got)
			}
		})
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func TestNoPermission(t *testing.T) {
	if unix.Geteuid() == 0 {
		t.Skip("root may open everything")
	}
	m := machine{}.add(t, good())
	if err := os.Chmod(filepath.Join(m.root, "dev/infiniband/umad0"), 0); err != nil {
		t.Fatal(err)
	}
	if got := diagnose(m, probeResult{}, nil); !strings.Contains(got,
		"fault|umad:mlx5_0:1|this user may not open /dev/infiniband/umad0|run as root") {
		t.Error(got)
	}
}

// TestNoAdapter checks the findings on a machine without an adapter, with and without PCI devices and modules.
func TestNoAdapter(t *testing.T) {
	pci := func(m machine, slot, vendor, device, class string) {
		for name, text := range map[string]string{"vendor": vendor, "device": device, "class": class} {
			m.write(t, "sys/bus/pci/devices/"+slot+"/"+name, text+"\n")
		}
	}
	const notLoaded = "fault||no RDMA module is loaded: there is no /sys/class/infiniband|as root: modprobe mlx5_ib"
	m := machine{t.TempDir()}
	pci(m, "0000:00:1f.6", "0x8086", "0x15bc", "0x020000") // an Ethernet card of Intel's
	if got := diagnose(m, probeResult{}, nil); !strings.Contains(got, notLoaded) || strings.Count(got, "\n") != 1 {
		t.Errorf("nothing at all:\n%s", got)
	}
	m.write(t, "sys/class/infiniband/.x", "")
	m.remove(t, "sys/class/infiniband/.x")
	if got := diagnose(m, probeResult{}, nil); !strings.Contains(got,
		"fault||the RDMA modules are loaded, but there is no "+
			"adapter|install an adapter") {
		t.Errorf("only modules:\n%s", got)
	}
	pci(m, "0000:3b:00.0", "0x15b3", "0x1017", "0x020700")
	pci(m, "0000:3c:00.0", "0x15b3", "0x1003", "0x028000") // no adapter's class
	pci(m, "0000:3d:00.0", "0x15b3", "0x1003", "0x020000")
	pci(m, "0000:3e:00.0", "0x8086", "0x24f0", "0x020800")
	got := diagnose(m, probeResult{}, nil)
	for _, want := range []string{
		"fault||PCI 3b:00.0 (15b3:1017) is an adapter whose driver is not loaded or refuses it|as root: modprobe " +
			"mlx5_ib\n",
		"fault||PCI 3d:00.0 (15b3:1003) is an adapter whose driver is not loaded or refuses it|as root: modprobe " +
			"mlx4_ib\n",
		"fault||PCI 3e:00.0 (8086:24f0) is an adapter whose driver is not loaded or refuses it|as root: " +
			"modprobe hfi1\n",
		"note||the RDMA modules are loaded, but no adapter is registered with them|",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	m.remove(t, "sys/class/infiniband")
	if got := diagnose(m, probeResult{}, nil); !strings.Contains(got, notLoaded) || strings.Count(got, "\n") != 4 {
		t.Errorf("no modules, but adapters:\n%s", got)
	}
}

// TestDiagnoseNoDevice diagnoses a file that is not a device.
func TestDiagnoseNoDevice(t *testing.T) {
	m := machine{}.add(t, good())
	got := text(Diagnose(t.Context(), m.root, nil))
	if want := "inappropriate ioctl for device"; !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%s", want, got)
	}
}
