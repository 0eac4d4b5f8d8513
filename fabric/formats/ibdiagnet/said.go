// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"

	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/mad"
)

// key is a P_Key of a port.
type key struct {
	node uint64
	port uint8
	key  mad.PKey
	line int
}

// pkey takes a row of PKEY. Its full members are told by the highest bit or by the column of membership.
func (p *parser) pkey(v *values) error {
	var n [4]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8, 2, 16, 3, 8); err != nil {
		return p.refuse("%w", err)
	}
	k := mad.PKey(n[2])
	if n[3] != 0 || bytes.EqualFold(v.text[3], []byte("full")) {
		k |= mad.PKeyFull
	}
	if k.Partition() != 0 {
		p.keys = append(p.keys, key{n[0], uint8(n[1]), k, p.line})
	}
	return nil
}

// Manager is a subnet manager that ibdiagnet or OpenSM saw.
type Manager struct {
	GUID     uint64 // of its port
	Priority uint8
	State    mad.SMState
}

// manager takes a row of SM_INFO, or of the SMS of opensm-smdb.dump.
func (p *parser) manager(v *values) error {
	var n [3]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8, 2, 8); err != nil {
		return p.refuse("%w", err)
	}
	p.managers = append(p.managers, Manager{n[0], uint8(n[1]), mad.SMState(n[2])})
	return nil
}

// cabled is a cable at a port.
type cabled struct {
	node uint64
	port uint8
	health.Cable
	line int
}

func (p *parser) cable(v *values) error {
	var n [2]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8); err != nil {
		return p.refuse("%w", err)
	}
	c := cabled{node: n[0], port: uint8(n[1]), line: p.line}
	for i, to := range map[int]*string{2: &c.Vendor, 3: &c.Part, 4: &c.Serial, 5: &c.Revision, 7: &c.Length, 8: &c.Type,
		9: &c.Firmware} {
		if v.has(i) {
			*to = string(bytes.TrimSpace(v.text[i]))
		}
	}
	c.Celsius, c.Measured = celsius(v.text[6])
	p.cables = append(p.cables, c)
	return nil
}

// celsius takes "42C".
func celsius(b []byte) (int, bool) {
	sign := 1
	if rest, minus := bytes.CutPrefix(b, []byte("-")); minus {
		b, sign = rest, -1
	}
	n, digits, ok := decimal(b, 255)
	unit := bytes.TrimSpace(b[digits:])
	return sign * int(n), ok && (len(unit) == 0 || bytes.EqualFold(unit, []byte("C")))
}
