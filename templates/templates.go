// Package templates holds what a person may want to reword or restyle.
package templates

import _ "embed"

// Page is the HTML page around a report, Style its look, Script what makes its
// tables sort and filter.
var (
	//go:embed page.html
	Page string
	//go:embed style.css
	Style string
	//go:embed script.js
	Script string
)
