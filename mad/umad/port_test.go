// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.org/ibconsole/mad"
)

func TestPorts(t *testing.T) {
	a, b := good(), good()
	b.Number, b.Umad, b.ISSM, b.LinkLayer, b.PKeys = 2, "umad1", "issm1", Ethernet, []uint16{0x7fff, 0, 0, 0x8001, 0, 0,
		0, 0, 0, 0, 0xffff}
	c := good()
	c.CA, c.Umad, c.ISSM, c.Virtual, c.PKeys = "mlx4_0", "umad10", "", true, nil
	m := machine{}.add(t, b).add(t, a).add(t, c)
	got, err := Ports(m.root)
	if err != nil {
		t.Fatal(err)
	}
	c.PKeys = []uint16{}
	if want := []Port{c, a, b}; !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
	if ports, err := Ports(t.TempDir()); len(ports) != 0 || err != nil {
		t.Errorf("an empty machine has %v, %v", ports, err)
	}
}

// TestPortsOld checks that the link layer may be missing, as in kernels before 2.6.34.
func TestPortsOld(t *testing.T) {
	m := machine{}.add(t, good())
	m.remove(t, "sys/class/infiniband/mlx5_0/ports/1/link_layer")
	m.remove(t, "sys/class/infiniband/mlx5_0/ports/1/gids")
	got, err := Ports(m.root)
	if err != nil || len(got) != 1 || got[0].LinkLayer != InfiniBand || got[0].GUID != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPortsDamaged checks that files that cannot be parsed are reported and the rest is read.
func TestPortsDamaged(t *testing.T) {
	const card, port = "sys/class/infiniband/mlx5_0/", "sys/class/infiniband/mlx5_0/ports/1/"
	for file, text := range map[string]string{
		card + "node_type":                    "CA",
		card + "node_guid":                    "e41d:2d03:00ab:cdeg",
		card + "sys_image_guid":               "e41d2d0300abcdef",
		port + "state":                        "ACTIVE",
		port + "phys_state":                   "4711: LinkUp",
		port + "lid":                          "0x10000",
		port + "sm_lid":                       "12",
		port + "cap_mask":                     "0x1ffffffff",
		port + "gids/0":                       "fe80::1",
		port + "pkeys/0":                      "0xfffff",
		port + "pkeys/99":                     "0x1",
		card + "ports/one/x":                  "",
		card + "ports/256/x":                  "",
		"sys/class/infiniband_mad/umad0/port": "-1",
	} {
		m := machine{}.add(t, good())
		m.write(t, file, text+"\n")
		ports, err := Ports(m.root)
		if err == nil || !strings.Contains(err.Error(), "expected") || !strings.Contains(err.Error(), "/sys/class/") {
			t.Errorf("%s: %q: %v", file, text, err)
		}
		if len(ports) != 1 || ports[0].Rate != good().Rate {
			t.Errorf("%s: %q: ports %+v", file, text, ports)
		}
	}
}

func TestDefaultPKey(t *testing.T) {
	for _, c := range []struct {
		table  []uint16
		index  uint16
		member bool
	}{
		{nil, 0, false}, {[]uint16{0xffff}, 0, true}, {[]uint16{0x7fff}, 0, false},
		{[]uint16{0x8001, 0x7fff, 0xffff}, 2, true}, {[]uint16{0x8001, 0x7fff}, 1, false}, {[]uint16{0x8001}, 0, false},
	} {
		if index, member := (Port{PKeys: c.table}).DefaultPKey(); index != c.index || member != c.member {
			t.Errorf("%04x: %d, %v, want %d, %v", c.table, index, member, c.index, c.member)
		}
	}
}

func TestChoose(t *testing.T) {
	port := func(ca string, number int, link string, state mad.PortState, dev string) Port {
		return Port{CA: ca, Number: number, LinkLayer: link, State: state, Umad: dev}
	}
	ports := []Port{
		port("mlx4_0", 1, Ethernet, mad.PortActive, "umad0"),
		port("mlx4_0", 2, InfiniBand, mad.PortInit, "umad1"),
		port("mlx5_0", 1, InfiniBand, mad.PortDown, "umad2"),
		port("mlx5_1", 1, InfiniBand, mad.PortActive, ""),
		port("mlx5_2", 1, InfiniBand, mad.PortActive, "umad4"),
		port("mlx5_3", 1, InfiniBand, mad.PortActive, "umad5"),
		port("sw0", 0, InfiniBand, mad.PortActive, "umad6"),
	}
	for _, c := range []struct {
		selector string
		ports    []Port
		want     string // the port, or a word of the error
	}{
		{"", ports, "mlx5_2 port 1"},
		{"", ports[:4], "mlx4_0 port 2"},
		{"", ports[:1], "mlx4_0 port 1 (Ethernet, Active)"},
		{"", nil, "no InfiniBand adapter"},
		{"mlx4_0", ports, "mlx4_0 port 2"},
		{"mlx4_0:1", ports, "mlx4_0 port 1"},
		{"mlx5_0", ports, "mlx5_0 port 1 (InfiniBand, Down)"},
		{"mlx5_0:1", ports, "mlx5_0 port 1"},
		{"mlx5_0:2", ports, "mlx5_0 has no port 2"},
		{"mlx5_1", ports, "mlx5_1 port 1 (no umad device)"},
		{"mlx9_9", ports, "there is no adapter mlx9_9"},
		{"mlx9_9:1", ports, "there is no adapter mlx9_9"},
		{"sw0", ports, "sw0 port 0"},
		{"sw0:0", ports, "sw0 port 0"},
	} {
		sel, err := ParseSelector(c.selector)
		if err != nil {
			t.Fatal(err)
		}
		p, err := sel.Choose(c.ports)
		if (err != nil) != errors.Is(err, ErrNoPort) {
			t.Errorf("%q: %v does not wrap ErrNoPort", c.selector, err)
		}
		if got := fmt.Sprint(p, err); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.selector, got, c.want)
		}
	}
	for _, bad := range []string{":1", "mlx5_0:", "mlx5_0:x", "mlx5_0:256", "mlx5_0:-1", "a:b:c"} {
		if sel, err := ParseSelector(bad); err == nil {
			t.Errorf("%q means %+v", bad, sel)
		}
	}
}

func TestUsable(t *testing.T) {
	m := machine{}.add(t, good())
	if p, err := Usable(m.root, nil); err != nil || p.Source() != "umad:mlx5_0:1" {
		t.Errorf("%v, %v", p, err)
	}
	m.remove(t, "dev/infiniband")
	if _, err := Usable(m.root, nil); err == nil || errors.Is(err, ErrNoPort) {
		t.Errorf("without its device: %v", err)
	}
	if _, err := Usable(t.TempDir(), nil); !errors.Is(err, ErrNoPort) {
		t.Errorf("an empty machine: %v", err)
	}
}

func FuzzParsers(f *testing.F) {
	for _, s := range []string{"4: ACTIVE", "0002:c903:0029:6de0", "fe80:0000:0000:0000:0002:c903:0029:6de1", "0x1a",
		"255", "mlx5_0:1", ":", "0x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := parseGUID(s); err == nil && quads(v) != strings.ToLower(s) {
			t.Errorf("GUID %q is %016x", s, v)
		}
		if v, err := parseGID(s); err == nil && !strings.HasSuffix(strings.ToLower(s), quads(v)) {
			t.Errorf("GID %q is %016x", s, v)
		}
		if v, err := parse16(s); err == nil && strings.TrimLeft(strings.ToLower(s)[2:], "0") !=
			strings.TrimLeft(fmt.Sprintf("%x", v), "0") {
			t.Errorf("LID %q is %d", s, v)
		}
		if v, err := parseMask(s); err == nil && strings.TrimLeft(strings.ToLower(s)[2:], "0") !=
			strings.TrimLeft(fmt.Sprintf("%x", v), "0") {
			t.Errorf("mask %q is %x", s, v)
		}
		if v, err := parsePort(s); err == nil && (v < 0 || v > 255) {
			t.Errorf("port %q is %d", s, v)
		}
		if v, err := parseCode(s); err == nil && !strings.HasPrefix(strings.ToLower(strings.TrimLeft(s, "0")),
			strings.TrimLeft(fmt.Sprintf("%x", v), "0")) {
			t.Errorf("code %q is %d", s, v)
		}
		if sel, err := ParseSelector(s); err == nil && sel.CA != "" && sel.Port != AnyPort {
			if again, err := ParseSelector(fmt.Sprintf("%s:%d", sel.CA, sel.Port)); err != nil || again != sel {
				t.Errorf("%q is %+v, again %+v, %v", s, sel, again, err)
			}
		}
	})
}

// FuzzPorts writes text into every file that is read.
func FuzzPorts(f *testing.F) {
	f.Add("mlx5_0", "1", "0xffff")
	f.Add("\x1b[2J", "300", "4: ACTIVE")
	m := machine{}.add(f, good()) // a worker runs one input at a time
	f.Fuzz(func(t *testing.T, ca, port, text string) {
		for _, name := range []string{"node_type", "node_guid", "ports/1/state", "ports/1/lid", "ports/1/pkeys/3",
			"ports/1/link_layer"} {
			m.write(t, "sys/class/infiniband/mlx5_0/"+name, text)
		}
		m.write(t, "sys/class/infiniband_mad/umad0/ibdev", ca)
		m.write(t, "sys/class/infiniband_mad/umad0/port", port)
		ports, _ := Ports(m.root)
		if len(ports) != 1 {
			t.Errorf("%d ports", len(ports))
		}
		_, _ = Selector{Port: AnyPort}.Choose(ports)
	})
}

// TestActive checks that Active returns the active InfiniBand ports with a device.
func TestActive(t *testing.T) {
	port := func(ca string, link string, state mad.PortState, device string) Port {
		return Port{CA: ca, Number: 1, LinkLayer: link, State: state, Umad: device}
	}
	all := Active([]Port{
		port("mlx5_0", InfiniBand, mad.PortActive, "umad0"), port("mlx5_1", InfiniBand, mad.PortInit, "umad1"),
		port("mlx5_2", "Ethernet", mad.PortActive, "umad2"),
		port("mlx5_3", InfiniBand, mad.PortActive, ""), port("mlx5_4", InfiniBand, mad.PortActive, "umad4"),
		port("mlx5_5", InfiniBand, mad.PortDown, "umad5"),
	})
	if len(all) != 2 || all[0].CA != "mlx5_0" || all[1].CA != "mlx5_4" {
		t.Errorf("%+v", all)
	}
}
