// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/routing/engines/torus"
)

// Flags holds the flags of an OpenSM command line, converted to options of this program.
type Flags struct {
	Conf  string // the opensm.conf, "" for none
	Chain []string
	Given []Setting
	Notes []string // flags without a counterpart here, one sentence each
}

// ReadFlags reads OpenSM's flags by the rules of getopt_long. Short flags may be combined, with the value attached or
// in the next word. Long flags may be abbreviated. If a flag is repeated, its last value counts.
func ReadFlags(words []string) (Flags, error) {
	r := flagReader{rest: words}
	for len(r.rest) > 0 {
		word := r.rest[0]
		r.rest = r.rest[1:]
		var err error
		switch {
		case strings.HasPrefix(word, "--") && len(word) > 2:
			err = r.long(word)
		case strings.HasPrefix(word, "-") && len(word) > 1 && word != "--":
			err = r.short(word)
		default:
			err = fmt.Errorf("unexpected word %q among OpenSM's flags", word)
		}
		if err != nil {
			return Flags{}, err
		}
	}
	if len(r.idle) > 0 {
		r.Notes = append(r.Notes, strings.Join(r.idle, ", ")+": no effect on routes")
	}
	return r.Flags, nil
}

// Join adds an opensm.conf, a chain and options that were given in addition to the flags. It returns an error if
// something was given twice.
func (f *Flags) Join(conf string, chain []string, given []Setting) error {
	switch {
	case f.Conf != "" && conf != "":
		return errors.New("the opensm.conf is named twice, by -F and by from=")
	case len(f.Chain) > 0 && len(chain) > 0:
		return errors.New("the engines are named twice, once by -R")
	}
	for _, g := range given {
		if indexSetting(f.Given, g.Name) >= 0 {
			return fmt.Errorf("option %s is given twice, once as a flag of OpenSM", g.Name)
		}
	}
	f.Conf, f.Chain, f.Given = f.Conf+conf, append(f.Chain, chain...), append(f.Given, given...)
	if f.Conf != "" {
		return nil
	}
	f.Given = withDefaults(f.Given)
	if slices.Contains(f.Chain, torus.Name) && indexSetting(f.Given, torusConfig) < 0 {
		f.Notes = append(f.Notes, "without --torus_config OpenSM reads /etc/opensm/torus-2QoS.conf; here the torus "+
			"is recognised")
	}
	return nil
}

// withDefaults adds OpenSM's defaults for missing options, where this program would otherwise use values from the
// subnet.
func withDefaults(options []Setting) []Setting {
	for _, d := range []Setting{{"lmc", "0"}, {"qos", "FALSE"}} {
		if indexSetting(options, d.Name) < 0 {
			options = append(options, d)
		}
	}
	return options
}

type flagReader struct {
	Flags
	rest []string // the words that are left to read
	idle []string // flags without effect here
}

func (r *flagReader) long(word string) error {
	name, value, hasValue := strings.Cut(word[2:], "=")
	var fits []string
	at := -1
	for i := range flags {
		if flags[i].long == name {
			fits, at = []string{name}, i
			break
		}
		if strings.HasPrefix(flags[i].long, name) {
			fits, at = append(fits, "--"+flags[i].long), i
		}
	}
	switch {
	case at < 0:
		return fmt.Errorf("OpenSM has no flag --%s", name)
	case len(fits) > 1:
		return fmt.Errorf("--%s may be any of %s", name, strings.Join(fits, ", "))
	}
	f := &flags[at]
	switch {
	case hasValue && !f.takes:
		return fmt.Errorf("--%s takes no value", f.long)
	case f.takes && !hasValue:
		var err error
		if value, err = r.next("--" + f.long); err != nil {
			return err
		}
	}
	return r.take(f, "--"+f.long, value)
}

// short reads a word that consists of one or more short flags.
func (r *flagReader) short(word string) error {
	for i := 1; i < len(word); i++ {
		at := slices.IndexFunc(flags, func(f flag) bool { return f.short == word[i] })
		if at < 0 {
			return fmt.Errorf("OpenSM has no flag %q", "-"+word[i:i+1])
		}
		f, name := &flags[at], "-"+word[i:i+1]
		if !f.takes {
			if err := r.take(f, name, ""); err != nil {
				return err
			}
			continue
		}
		value := word[i+1:]
		if value == "" {
			var err error
			if value, err = r.next(name); err != nil {
				return err
			}
		}
		return r.take(f, name, value)
	}
	return nil
}

// next returns the word after a flag as its value, even if it looks like a flag.
func (r *flagReader) next(name string) (string, error) {
	if len(r.rest) == 0 {
		return "", fmt.Errorf("%s has no value", name)
	}
	value := r.rest[0]
	r.rest = r.rest[1:]
	return value, nil
}

func (r *flagReader) take(f *flag, name, value string) error {
	switch {
	case f.why != "":
		return fmt.Errorf("flag %s is refused: %s", name, f.why)
	case f.note != "":
		r.Notes = append(r.Notes, name+" "+f.note)
	case f.option == "":
		if !slices.Contains(r.idle, name) {
			r.idle = append(r.idle, name)
		}
	case f.option == confFlag:
		r.Conf = value
	case f.option == chainFlag:
		r.Chain, r.Notes = modelledChain(value, name, &Around{}, r.Notes)
	default:
		if !f.takes {
			value = "TRUE"
		}
		r.Given = slices.DeleteFunc(r.Given, func(s Setting) bool { return s.Name == f.option })
		r.Given = append(r.Given, Setting{f.option, value})
	}
	return nil
}

// FlagNames returns the flags of OpenSM that correspond to options of this program, in their short form if they have
// one.
func FlagNames() []string {
	var names []string
	for i := range flags {
		if f := &flags[i]; f.option != "" {
			names = append(names, f.name())
		}
	}
	return names
}

func (f *flag) name() string {
	if f.short != 0 {
		return "-" + string(f.short)
	}
	return "--" + f.long
}
