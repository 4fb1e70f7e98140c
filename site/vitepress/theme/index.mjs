/** The default theme, with charts. */
import DefaultTheme from "vitepress/theme";
import { LiveChart } from "./live-chart.mjs";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("LiveChart", LiveChart);
  },
};
