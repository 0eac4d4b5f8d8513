// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"example.org/ibconsole/mad"
)

// maxModule is the maximum length of a module name in ibsim.
const maxModule = 20

// handler parses a line. The argument word is the first word of the line, rest is the text after it.
type handler func(p *parser, word, rest string) error

// attributes maps the first words of lines outside records to handlers. Such lines set properties of the records after
// them.
var attributes = map[string]handler{
	"switchguid":  guidLine(mad.NodeSwitch),
	"switchguids": guidLine(mad.NodeSwitch),
	"hcaguid":     guidLine(mad.NodeCA),
	"hcaguids":    guidLine(mad.NodeCA),
	"caguid":      guidLine(mad.NodeCA),
	"caguids":     guidLine(mad.NodeCA),
	"rtguid":      guidLine(mad.NodeRouter),
	"rtguids":     guidLine(mad.NodeRouter),
	"vendid":      numberLine(0, 0xffffff, func(p *parser, v uint64) { p.vendor = uint32(v) }),
	"devid":       numberLine(0, 0xffff, func(p *parser, v uint64) { p.device = uint16(v) }),
	"sysimgguid":  numberLine(0, math.MaxUint64, func(p *parser, v uint64) { p.system = v }),
	"width":       numberLine(1, 31, func(p *parser, v uint64) { p.rate.width = uint8(v) }),
	"speed":       numberLine(1, 7, func(p *parser, v uint64) { p.rate.speed = uint8(v) }),
	"extspeed":    numberLine(0, 7, func(p *parser, v uint64) { p.rate.ext = uint8(v) }),
	"module":      moduleLine,
}

func isAttribute(l string) bool {
	word, _ := firstWord(l)
	_, ok := attributes[word]
	return ok
}

// guidLine returns the handler of lines such as "switchguid=0xA", "switchguid=0xA(B)" and "hcaguids+0x10". The handler
// sets the GUID of the next node of type t. The sign + adds to the previous value.
func guidLine(t mad.NodeType) handler {
	return func(p *parser, word, rest string) error {
		value, relative := strings.TrimLeft(rest, " \t"), false
		if strings.HasPrefix(value, "+") {
			relative = true
		} else if !strings.HasPrefix(value, "=") {
			return p.errorf("%s without a value, expected %s=0xGUID", word, word)
		}
		guid, after, err := number(value[1:])
		if err != nil {
			return p.errorf("%s: %w", word, err)
		}
		if p.bracketed, err = bracketedGUID(after); err != nil {
			if err = p.refuse(p.errorf("%s: %w", word, err)); err != nil {
				return err
			}
		}
		if !relative {
			p.base[t] = guid
			guid = 0
		}
		p.next[t], p.guided = p.base[t]+guid, true
		return nil
	}
}

// bracketedGUID parses the text after a GUID, which is empty, a comment, or a second GUID in brackets. It returns the
// second GUID or 0.
func bracketedGUID(s string) (uint64, error) {
	if !strings.HasPrefix(s, "(") {
		return 0, endOfValue(s)
	}
	hex, after, closed := strings.Cut(s[1:], ")")
	guid, err := strconv.ParseUint(hex, 16, 64)
	if err != nil || !closed {
		return 0, errors.New("bad GUID in brackets " + quote(s) + ", expected (HEX)")
	}
	return guid, endOfValue(after)
}

// numberLine returns the handler of a line such as "devid=0xbd36". The handler calls the function set if the number is
// in the range from low to high.
func numberLine(low, high uint64, set func(*parser, uint64)) handler {
	return func(p *parser, word, rest string) error {
		value, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t"), "=")
		if !ok {
			return p.errorf("%s without a value, expected %s=NUMBER", word, word)
		}
		v, after, err := number(value)
		if err == nil {
			err = endOfValue(after)
		}
		if err != nil {
			return p.errorf("%s: %w", word, err)
		}
		if v < low || v > high {
			return p.errorf("%s=%d, expected a number from %d to %d", word, v, low, high)
		}
		set(p, v)
		return nil
	}
}

// moduleLine parses the line module="NAME". The name is a prefix of the ids in the lines after it.
func moduleLine(p *parser, _, rest string) error {
	value, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t"), "=")
	name, _, found := quoted(value)
	if !ok || !found {
		return p.errorf("module without a name, expected module=\"NAME\"")
	}
	if len(name) > maxModule {
		return p.errorf("module name %s longer than %d bytes", quote(name), maxModule)
	}
	p.module = name
	return nil
}

// number parses the number at the beginning of s like C's strtoull with base 0. It returns the text after the number.
func number(s string) (uint64, string, error) {
	s = strings.TrimLeft(s, " \t")
	i := 0
	for i < len(s) && isAlnum(s[i]) {
		i++
	}
	v, err := strconv.ParseUint(cNumber(s[:i]), 0, 64)
	if err != nil || strings.IndexByte(s[:i], '_') >= 0 {
		return 0, "", errors.New("bad number " + quote(s[:i]) + ", expected 0xHEX or a decimal one")
	}
	return v, s[i:], nil
}

// cNumber converts a number from C's notation to Go's. C has no prefixes 0b and 0o. In C a leading 0 marks an octal
// number, which Go also accepts.
func cNumber(s string) string {
	if len(s) > 1 && s[0] == '0' && strings.ContainsRune("bBoO", rune(s[1])) {
		return "?"
	}
	return s
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
}

// endOfValue returns an error unless s is empty or has only spaces and a comment.
func endOfValue(s string) error {
	if s = strings.TrimLeft(s, " \t"); s == "" || s[0] == '#' {
		return nil
	}
	return errors.New("unexpected " + quote(s) + " after the number")
}

// quoted returns the first text in quotes in s, and the rest of s after it.
func quoted(s string) (text, after string, ok bool) {
	_, s, ok = strings.Cut(s, `"`)
	if !ok {
		return "", "", false
	}
	return strings.Cut(s, `"`)
}
