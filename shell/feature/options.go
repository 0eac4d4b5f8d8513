// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric/formats/osm/qospolicy"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
)

// StateNames returns the names of the states.
func StateNames() []string {
	return prose.Words(session.Kinds, func(k session.Kind) string { return string(k) })
}

// OfOption returns the option "of", which selects the state of the subnet.
func OfOption() lang.Option {
	return lang.Option{
		Name: "of", Kind: lang.KindPicture, Value: strings.Join(StateNames(), "|") + "|ID|TIME",
		Summary: "state, ID of a history entry, or time such as 03:12 (default: staged, else whatif, else live)",
	}
}

// StrictOption returns the option that decides whether a check with the verdict unknown fails.
func StrictOption() lang.Option {
	return lang.Option{
		Name: "strict", Kind: lang.KindWord, Words: []string{"yes", "no"},
		Summary: "no: succeed if the verdict is unknown",
	}
}

// PathOptions returns the options that select paths by partition and service level.
func PathOptions() []lang.Option {
	return []lang.Option{
		{Name: "pkey", Kind: lang.KindText, Value: "0xNNNN", Summary: "only paths of this partition"},
		{Name: "sl", Kind: lang.KindInt, Summary: "only paths of this service level"},
	}
}

// RequestOptions returns the options for criteria of requests for paths that only a policy for quality of service uses.
func RequestOptions() []lang.Option {
	return []lang.Option{
		{Name: "service_id", Kind: lang.KindText, Value: "0xN",
			Summary: "service ID of the request, for qos_policy_file"},
		{Name: "qos_class", Kind: lang.KindInt, Summary: "QoS class of the request, for qos_policy_file"},
	}
}

// MaxFilteredHosts is the number of hosts whose pairs are all checked when [PathOptions] select paths.
const MaxFilteredHosts = 5000

// Asked returns what [PathOptions] and [RequestOptions] select, for [Call.Grants].
func (c *Call) Asked() (partitions.Asked, error) {
	want, err := c.WantedPath()
	a := partitions.Asked{SL: int(want.SL) - 1, Request: qospolicy.Request{PKey: mad.PKey(want.PKey)}}
	if text := c.Option("service_id", ""); text != "" && err == nil {
		id, bad := strconv.ParseUint(text, 0, 64)
		if a.ServiceID = &id; bad != nil {
			err = fmt.Errorf("service_id=%q: expected a number of 64 bits", text)
		}
	}
	if c.Option("qos_class", "") != "" && err == nil {
		class := c.Int("qos_class", -1)
		if class < 0 || class > 0xfff {
			err = fmt.Errorf("qos_class=%d: expected 0 to 4095", class)
		}
		n := uint16(class)
		a.Class = &n
	}
	return a, err
}

// Grants returns the paths of a state that [PathOptions] select. It returns nil if they select all paths.
func (c *Call) Grants(st *session.State, p *session.Picture) (*partitions.Grants, error) {
	asked, err := c.Asked()
	if err != nil || asked.Any() {
		return nil, err
	}
	return st.Grants(p, asked)
}

// WantedPath returns the service level and partition that [PathOptions] select, for queries of a path database.
func (c *Call) WantedPath() (want pathdb.Want, err error) {
	if text := c.Option("pkey", ""); text != "" {
		key, err := strconv.ParseUint(text, 0, 16)
		if err != nil || mad.PKey(key).Partition() == 0 {
			return want, fmt.Errorf("pkey=%q: expected 0x0001 to 0xffff", text)
		}
		want.PKey = uint16(key)
	}
	if sl := c.Int("sl", -1); sl > 15 || sl < 0 && c.Option("sl", "") != "" {
		return want, fmt.Errorf("sl=%d: expected 0 to 15", sl)
	} else if sl >= 0 {
		want.SL = uint8(sl) + 1
	}
	return want, nil
}
