// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"slices"
	"strconv"
)

// confRange is the valid range of an option. If ok returns false for the value in the file, OpenSM uses the value of
// the field instead.
type confRange struct {
	name, instead string
	ok            func(v uint64) bool
}

func atMost(top uint64) func(uint64) bool { return func(v uint64) bool { return v <= top } }

var confRanges = []confRange{
	{"lmc", "0", atMost(7)},
	{"sm_priority", "0", atMost(15)},
	{"force_link_speed", "15", func(v uint64) bool { return v <= 7 || v == 15 }},
	{"force_link_speed_ext", "31", func(v uint64) bool { return v <= 7 || v == 30 || v == 31 }},
	{"force_link_width", "255", func(v uint64) bool { return v <= 31 || v == 255 }},
	{"fdr10", "1", atMost(2)},
	{"max_wire_smps", "2147483647", func(v uint64) bool { return v != 0 }},
	{"max_wire_smps", "4", atMost(0x7fffffff)},
	{"perfmgr_sweep_time_s", "180", func(v uint64) bool { return v > 0 }},
	{"perfmgr_max_outstanding_queries", "500", func(v uint64) bool { return v > 0 }},
	{"m_key_protection_level", "2", atMost(3)},
}

// verify replaces values that are out of range, as in osm_subn_verify_config.
func (p *confParser) verify() {
	for _, r := range confRanges {
		if v := p.c.Uint(r.name); !r.ok(v) {
			p.replace(r.name, r.instead, "is out of range")
		}
	}
	if p.c.Uint("max_wire_smps2") > 0x7fffffff {
		p.replace("max_wire_smps2", p.c.Value("max_wire_smps"), "is out of range")
	}
	if p.c.Uint("long_transaction_timeout") < p.c.Uint("transaction_timeout") {
		p.replace("long_transaction_timeout", p.c.Value("transaction_timeout"), "is less than transaction_timeout")
	}
	p.oneOf("console", "off", "off", "local", "loopback", "socket")
	if p.c.Bool("no_partition_enforcement") {
		p.put("part_enforce", "off")
	}
	p.oneOf("part_enforce", "both", "both", "in", "out", "off")
	if p.c.Bool("qos") {
		p.verifyQoS()
	}
	p.verifyLease()
}

// replace sets the value of an option and adds a note to the line of the old value.
func (p *confParser) replace(name, value, why string) {
	p.line = 0
	if i, ok := p.given[name]; ok {
		p.line = p.c.Options[i].Line
	}
	p.note("%s: %q %s; OpenSM uses %s", name, shorten([]byte(p.c.Value(name))), why, value)
	p.put(name, value)
}

// put sets the value of an option and keeps its line number.
func (p *confParser) put(name, value string) {
	o := ConfOption{Name: name, Value: value}
	if i, ok := p.given[name]; ok {
		o.Line = p.c.Options[i].Line
	}
	p.set(o)
}

func (p *confParser) oneOf(name, instead string, values ...string) {
	switch v := p.c.Value(name); {
	case v == "":
		p.replace(name, instead, "is (null), at which OpenSM crashes, or empty")
	case !slices.Contains(values, v):
		p.replace(name, instead, fmt.Sprintf("is none of %q", values))
	}
}

func (p *confParser) verifyQoS() {
	for _, set := range []string{"qos", "qos_ca", "qos_sw0", "qos_swe", "qos_rtr"} {
		if p.c.Uint(set+"_max_vls") > 15 {
			p.replace(set+"_max_vls", "0", "is out of range")
		}
		limit, err := strconv.ParseInt(p.c.Value(set+"_high_limit"), 10, 32)
		if err == nil && (limit < -1 || limit > 255) {
			p.replace(set+"_high_limit", "-1", "is out of range")
		}
	}
}

// verifyLease ensures that the sweep interval is shorter than the lease period of M_Keys.
func (p *confParser) verifyLease() {
	lease := p.c.Uint("m_key_lease_period")
	if p.c.Uint("m_key_protection_level") == 0 || lease == 0 {
		return
	}
	if p.c.Uint("sweep_interval") == 0 {
		p.replace("sweep_interval", strconv.FormatUint(uint64(uint32(lease-1)), 10), "would let M_Keys expire")
	}
	if sweep := p.c.Uint("sweep_interval"); sweep >= lease {
		p.replace("m_key_lease_period", strconv.FormatUint(uint64(uint16(sweep+1)), 10),
			"is no longer than sweep_interval")
	}
}
