// Package templates holds what a person may want to reword or restyle.
package templates

import _ "embed"

// Readme is the Markdown of a report folder. Page is its HTML page, Style the
// look of that, Script what makes its tables sort, filter and open.
var (
	//go:embed readme.md
	Readme string
	//go:embed page.html
	Page string
	//go:embed style.css
	Style string
	//go:embed script.js
	Script string
)
