// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// planarized returns a machine with a planarized adapter as in rdma-core's documents, with four planes; the first is
// down.
func planarized(t *testing.T) machine {
	t.Helper()
	p := good()
	p.CapMask |= mad.CapSMDisabled
	p.ISSM = ""
	m := machine{}.add(t, p)
	for n := range 4 {
		plane := good()
		plane.CA, plane.Number, plane.Umad, plane.ISSM = "smi0", n+1, fmt.Sprintf("umad%d", n+1),
			fmt.Sprintf("issm%d", n+1)
		if n == 0 {
			plane.State, plane.Phys = mad.PortDown, mad.PhysPolling
		}
		m.add(t, plane)
	}
	return m
}

func TestPlanes(t *testing.T) {
	m := planarized(t)
	ports, err := Ports(m.root)
	if err != nil || len(ports) != 1 {
		t.Fatalf("%v, %v", ports, err)
	}
	p := ports[0]
	if p.Source() != "umad:mlx5_0:1" || len(p.Planes) != 4 || p.SMI().String() != "smi0 port 2" ||
		fmt.Sprint(p.devices()) != "[umad2 umad0]" {
		t.Errorf("%v of %d planes, SMPs by %v, devices %v", p, len(p.Planes), p.SMI(), p.devices())
	}
	for arg, want := range map[string]string{"": "smi0 port 2", "mlx5_0": "smi0 port 2", "smi0": "smi0 port 2",
		"smi0:3": "smi0 port 3", "smi0:1": "smi0 port 1"} {
		sel, err := ParseSelector(arg)
		if err != nil {
			t.Fatal(err)
		}
		if whole := sel.Whole(ports); strings.HasPrefix(arg, "smi0") && whole != (Selector{"mlx5_0", 1}) ||
			!strings.HasPrefix(arg, "smi0") && whole != sel {
			t.Errorf("%q is of %+v", arg, whole)
		}
		if p, err := sel.Choose(ports); err != nil || p.CA != "mlx5_0" || p.SMI().String() != want {
			t.Errorf("%q: %v, SMPs by %v, %v; want %s", arg, p, p.SMI(), err, want)
		}
	}
	if _, err := (Selector{"smi0", 5}).Choose(ports); !errors.Is(err, ErrNoPort) {
		t.Errorf("a fifth plane: %v", err)
	}
	if p, err := Usable(m.root, nil); err != nil || len(p.Planes) != 4 {
		t.Errorf("usable: %v, %v", p, err)
	}
	got := diagnose(m, probeResult{}, nil)
	for _, want := range []string{
		"ok|umad:mlx5_0:1|a planarized adapter, one port of two devices: subnet management (class 0x81, only by " +
			"directed route; 0x01 is refused) uses smi0 port 2, one of 4 planes; all other classes use mlx5_0|",
		"source umad selects umad:mlx5_0:1|",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	m.remove(t, "dev/infiniband/umad2")
	if got := diagnose(m, probeResult{}, nil); !strings.Contains(got, "fault|umad:mlx5_0:1|there is no device node "+
		"/dev/infiniband/umad2") || strings.Contains(got, "issm device") {
		t.Errorf("without the device of a plane:\n%s", got)
	}
	if _, err := Usable(m.root, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("usable without the device of a plane: %v", err)
	}
}

// TestManyDevices checks that 128 devices and 192 ports, rdma-core's limits, are all found, and that a plane is matched
// only by its port GUID.
func TestManyDevices(t *testing.T) {
	m := planarized(t)
	for n := range 128 {
		p := good()
		p.CA, p.Umad, p.ISSM, p.GUID = fmt.Sprintf("mlx5_%d", n+1), fmt.Sprintf("umad%d", n+100), "", uint64(n+1)
		if n == 127 {
			p.Number = 192
		}
		m.add(t, p)
	}
	ports, err := Ports(m.root)
	if err != nil || len(ports) != 129 || len(ports[0].Planes) != 4 {
		t.Fatalf("%d ports, %v", len(ports), err)
	}
	if p, err := (Selector{"mlx5_128", 192}).Choose(ports); err != nil || p.Umad != "umad227" || p.Planes != nil {
		t.Errorf("%v, %v", p, err)
	}
}

// TestNoPlanes checks that ports stay separate if their devices cannot be matched.
func TestNoPlanes(t *testing.T) {
	for name, change := range map[string]func(*Port){
		"two for general services": func(p *Port) { p.CA = "mlx5_9"; p.CapMask |= mad.CapSMDisabled },
		"planes of two devices":    func(p *Port) { p.CA = "smi1" },
	} {
		m := planarized(t)
		p := good()
		p.Umad = "umad9"
		change(&p)
		if ports, err := Ports(m.add(t, p).root); err != nil || len(ports) != 6 {
			t.Errorf("%s: %v, %v", name, ports, err)
		}
	}
	for name, change := range map[string]func(*Port){
		"both carry SMPs": func(*Port) {}, "no GUID": func(p *Port) { p.GUID = 0; p.CapMask |= mad.CapSMDisabled },
	} {
		m := machine{}.add(t, good())
		p := good()
		p.CA, p.Umad = "smi0", "umad9"
		change(&p)
		if ports, err := Ports(m.add(t, p).root); err != nil || len(ports) != 2 {
			t.Errorf("%s: %v, %v", name, ports, err)
		}
	}
}

// TestPlaneClasses checks that SMPs by directed route use the device of the planes and general services the other one,
// that packets of both are received, and that SMPs by LID are refused.
func TestPlaneClasses(t *testing.T) {
	tr, smi := onSocket(t)
	other, gsi := onSocket(t)
	tr.dev.general = other.dev
	tr.agents[0].err = ErrDirectedOnly
	for class, kernel := range map[mad.Class]int{mad.ClassSMPDirected: smi, mad.ClassSA: gsi, mad.ClassPerf: gsi} {
		f := mad.Frame{Data: [mad.Size]byte{1: uint8(class)}}
		if err := tr.Send(&f); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4096)
		n, err := unix.Read(kernel, b)
		if err != nil || n != packetSize || mad.Class(b[headerSize+1]) != class {
			t.Fatalf("class 0x%02x: %d bytes, %v", uint8(class), n, err)
		}
		received := make(chan error)
		var got mad.Frame
		go func() { received <- tr.Recv(&got) }()
		if _, err := unix.Write(kernel, packet(header{}, 0, b[headerSize:n])); err != nil {
			t.Fatal(err)
		}
		if err := <-received; err != nil || got.Data != f.Data {
			t.Errorf("class 0x%02x came back as %v, %v", uint8(class), got.Data[1], err)
		}
	}
	f := mad.Frame{DLID: 7, Data: [mad.Size]byte{1: uint8(mad.ClassSMPLID)}}
	if err := tr.Send(&f); !errors.Is(err, ErrDirectedOnly) {
		t.Errorf("by LID: %v", err)
	}
	tr.Interrupt()
	if err := tr.Recv(&f); !errors.Is(err, mad.ErrInterrupted) {
		t.Errorf("interrupted: %v", err)
	}
	if err := unix.Shutdown(gsi, unix.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	if err := tr.Recv(&f); !errors.Is(err, ErrGone) {
		t.Errorf("the device of the general services is gone: %v", err)
	}
	if err := errors.Join(tr.Close(), other.Close()); err != nil {
		t.Error(err)
	}
	if err := tr.Recv(&f); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}
