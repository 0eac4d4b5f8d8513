// SPDX-License-Identifier: Apache-2.0

package qospolicy_test

import (
	"strings"
	"testing"
	"unicode"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/osm/qospolicy"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
)

// documented is a policy with each kind of section, after OpenSM's QoS_management_in_OpenSM.txt.
const documented = `
port-groups
    port-group # using port GUIDs
        name: Storage
        use: SRP Targets
        port-guid: 0x100001, 0x100003-0x100005
    end-port-group
    port-group
        name: CAs and SM
        node-type: CA, SELF
    end-port-group
end-port-groups
qos-setup
end-qos-setup
qos-levels
    qos-level
        name: DEFAULT
        use: default QoS Level
        sl: 0
    end-qos-level
    qos-level
        name: WholeSet
        sl: 1
        mtu-limit: 4
        rate-limit: 5
        pkey: 0x1234, 0x7000-0x7fff
        path-bits: 8-15
        packet-life: 8
    end-qos-level
end-qos-levels
qos-match-rules
    qos-match-rule
        use: by QoS class 7-9 or 11
        qos-class: 7-9,11
        qos-level-name: WholeSet
    end-qos-match-rule
    qos-match-rule
        use: Storage targets
        destination: Storage
        service-id: 22,4719-5000
        qos-level-name: wholeset
    end-qos-match-rule
end-qos-match-rules
qos-ulps
    sdp, port-num 30000 : 3
    srp, target-port-guid 0x100007 : 4
end-qos-ulps
`

// TestLevels checks by hand which level requests get.
func TestLevels(t *testing.T) {
	f := gentest.Fabric(t, "fattree:2,4")
	p, err := qospolicy.Read(strings.NewReader(documented), "policy")
	if err != nil {
		t.Fatal(err)
	}
	var none *osm.PartitionFile
	b, err := p.On(f, none.Of(f))
	if err != nil {
		t.Fatal(err)
	}
	port := func(guid uint64) fabric.PortIndex { return f.PortByGUID(guid) }
	class, service, sdp := uint16(11), uint64(4720), uint64(0x10000+30000)
	for _, c := range []struct {
		to   uint64
		q    qospolicy.Request
		want uint8
	}{
		{to: 0x100005, want: 0},
		{to: 0x100009, q: qospolicy.Request{Class: &class}, want: 1},
		{to: 0x100005, q: qospolicy.Request{ServiceID: &service}, want: 1},
		{to: 0x100009, q: qospolicy.Request{ServiceID: &service}, want: 0},
		{to: 0x100009, q: qospolicy.Request{ServiceID: &sdp}, want: 3},
		{to: 0x100007, want: 4},
	} {
		if got := b.Level(port(0x10000b), port(c.to), c.q); got.SL != c.want {
			t.Errorf("0x%x %+v: SL %d, want %d", c.to, c.q, got.SL, c.want)
		}
	}
}

// TestErrors checks that errors name the line and what was expected.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "policy:1: no default level",
		"qos-levels\n": "policy:2: expected an entry of qos-levels or end-qos-levels, " +
			"found the",
		"\nqos-level": "policy:2: expected qos-ulps, port-groups, " +
			"qos-setup, qos-levels or",
		"qos-ulps\ndefault: 16\nend-qos-ulps\n":                  "policy:2: SL 16, expected 0 to 15",
		"qos-ulps\ndefault: x\nend-qos-ulps\n":                   `policy:2: expected a number, found "x"`,
		"port-groups\nport-group\nend-port-group":                "policy:3: the port-group has no name",
		"port-groups\nport-group\nname: a\nport-name: b/1\n":     `policy:4: "b/1" is not the name of a port`,
		"qos-levels\nqos-level\nname: a\nname: b\n":              "policy:4: name is given twice",
		"qos-levels\nqos-level\nmtu-limit: 6\n":                  "policy:3: mtu-limit 6, expected 1 to 5",
		"qos-match-rules\nqos-match-rule\nend-qos-match-rule\n":  "policy:3: the qos-match-rule has no level",
		"qos-ulps\ndefault:0\nsdp, port-num 70000:1\n":           "policy:3: port number 70000, expected 0 to 65535",
		"qos-ulps\ndefault:0\nend-qos-ulps\r\n":                  `policy:3: expected qos-ulps, port-groups`,
		"qos-levels\nqos-level\nname: \x1b[2J\nsl: \x1b[2J\n":    `policy:4: expected a number, found "\x1b"`,
		"qos-levels\nqos-level\nname: default\nsl: 1\nname: b\n": "policy:5: name is given twice",
	} {
		_, err := qospolicy.Read(strings.NewReader(text), "policy")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(documented)
	f.Add("qos-ulps\ndefault : 1\nipoib, pkey 0x7fff : 2\nany, source-target-port-guid 1-9 : 3\nend-qos-ulps\n")
	f.Add("port-groups\nport-group\nname: \"x\ny\"\nport-name: \"node-0001 HCA-1/P1\"\npartition: Default\n" +
		"end-port-group")
	sub, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		f.Fatal(err)
	}
	var none *osm.PartitionFile
	partitions := none.Of(sub)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := qospolicy.Read(strings.NewReader(text), "policy")
		if err != nil {
			text := err.Error()
			if !strings.HasPrefix(text, "policy:") || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("error %q", err)
			}
			return
		}
		if b, err := p.On(sub, partitions); err == nil {
			b.Level(sub.EndPorts[0], sub.EndPorts[1], qospolicy.Request{})
		}
		p.Levels()
	})
}
