// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
)

// StateNames returns the names of the states that a command can be about.
func StateNames() []string {
	return prose.Words(session.Kinds, func(k session.Kind) string { return string(k) })
}

// OfOption returns the option that chooses the state that a command is about.
func OfOption() lang.Option {
	return lang.Option{
		Name: "of", Kind: lang.KindPicture, Value: strings.Join(StateNames(), "|") + "|ID|TIME",
		Summary: "which state, the number of a history entry, or a time (03:12); staged if there, else whatif, " +
			"else live",
	}
}

// StrictOption returns the option that lets a check succeed whose verdict is unknown.
func StrictOption() lang.Option {
	return lang.Option{
		Name: "strict", Kind: lang.KindWord, Words: []string{"yes", "no"},
		Summary: "no: succeed also where the verdict is unknown",
	}
}

// PathOptions returns the options that select paths: pkey and sl.
func PathOptions() []lang.Option {
	return []lang.Option{
		{Name: "pkey", Kind: lang.KindText, Value: "0xNNNN", Summary: "only paths of this partition"},
		{Name: "sl", Kind: lang.KindInt, Summary: "only paths of this service level"},
	}
}

// MaxFilteredHosts is of how many hosts each pair is looked at where [PathOptions] select paths.
const MaxFilteredHosts = 5000

// Asked returns the paths that [PathOptions] select.
func (c *Call) Asked() (partitions.Asked, error) {
	want, err := c.WantedPath()
	return partitions.Asked{SL: int(want.SL) - 1, PKey: mad.PKey(want.PKey)}, err
}

// Grants returns the paths of a state that [PathOptions] select, nil for all.
func (c *Call) Grants(st *session.State, p *session.Picture) (*partitions.Grants, error) {
	asked, err := c.Asked()
	if err != nil || asked.Any() {
		return nil, err
	}
	return st.Grants(p, asked)
}

// WantedPath returns what [PathOptions] ask of path records.
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
