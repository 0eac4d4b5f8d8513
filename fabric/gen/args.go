// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strconv"
	"strings"
)

// form describes the arguments of a kind.
type form struct {
	dims   bool // the first argument is a size like "6x5x5"
	params []param
	list   bool // any number of numbers may follow the parameters
}

// param describes one numeric argument. It is given by position or by name.
type param struct {
	name     string
	min, max int
	optional bool // takes def where it is missing
	def      int
}

// arguments are parsed arguments.
type arguments struct {
	dims  []int
	value map[string]int
	list  []int
}

func (f form) parse(args []string) (arguments, error) {
	a := arguments{value: map[string]int{}}
	words := strings.FieldsFunc(strings.Join(args, " "), func(r rune) bool {
		return strings.ContainsRune(" \t,;()", r)
	})
	if f.dims {
		if len(words) == 0 {
			return a, fmt.Errorf("no size, expected a size such as 6x5")
		}
		dims, err := parseDims(words[0])
		if err != nil {
			return a, err
		}
		a.dims, words = dims, words[1:]
	}
	next := 0
	for _, w := range words {
		name, text, named := strings.Cut(w, "=")
		switch {
		case named:
		case next < len(f.params):
			name, text = f.params[next].name, w
			next++
		case f.list:
			v, err := number(w, 1, maxNumber)
			if err != nil {
				return a, err
			}
			a.list = append(a.list, v)
			continue
		default:
			return a, fmt.Errorf("unexpected argument %q", w)
		}
		if err := f.set(&a, name, text); err != nil {
			return a, err
		}
	}
	return a, f.complete(&a)
}

// set stores the value of a named argument. The argument is an option of all kinds or a parameter of this kind.
func (f form) set(a *arguments, name, text string) error {
	if _, ok := a.value[name]; ok {
		return fmt.Errorf("%s is given twice", name)
	}
	if ok, err := setCommon(a, name, text); ok {
		return err
	}
	for _, p := range f.params {
		if p.name != name {
			continue
		}

		v, err := number(text, p.min, p.max)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		a.value[name] = v
		return nil
	}
	return fmt.Errorf("unknown argument %q", name)
}

// complete sets arguments that were not given to their default values. It returns an error if a required argument is
// missing.
func (f form) complete(a *arguments) error {
	for _, p := range f.params {
		if _, ok := a.value[p.name]; ok {
			continue
		}
		if !p.optional {
			return fmt.Errorf("%s is missing", p.name)
		}
		a.value[p.name] = p.def
	}
	return nil
}

const maxNumber = 1 << 30

func number(s string, low, high int) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	if v < low || v > high {
		return 0, fmt.Errorf("%d is out of range, expected %d to %d", v, low, high)
	}
	return v, nil
}

// maxDims is the maximum number of dimensions of a grid. A switch with 254 ports does not have enough ports for more
// dimensions.
const maxDims = 16

func parseDims(s string) ([]int, error) {
	parts := strings.Split(strings.ToLower(s), "x")
	if len(parts) > maxDims {
		return nil, fmt.Errorf("%d dimensions, expected at most %d", len(parts), maxDims)
	}
	var dims []int
	for _, p := range parts {
		v, err := number(p, 1, maxNumber)
		if err != nil {
			return nil, fmt.Errorf("size %q: %w", s, err)
		}
		dims = append(dims, v)
	}
	return dims, nil
}
